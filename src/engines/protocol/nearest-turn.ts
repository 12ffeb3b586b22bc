/**
 * The maximum distance of a word from a turn. A word belongs to the turn at its middle, or to the
 * nearest turn within this distance.
 */
export const reachMs = 1000;

/**
 * Returns the turn at a time; undefined if no turn is near. If turns overlap, the turn with the
 * nearest middle is returned, since crosstalk is short and lies at the edge of a turn.
 */
export function nearestTurn<Turn extends { readonly startMs: number; readonly endMs: number }>(
  ms: number,
  turns: Iterable<Turn>,
): Turn | undefined {
  let best: { readonly turn: Turn; readonly distance: number } | undefined;
  for (const turn of turns) {
    const outside = Math.max(turn.startMs - ms, ms - turn.endMs, 0);
    if (outside > reachMs) continue;
    const inside = Math.abs(ms - (turn.startMs + turn.endMs) / 2) / (turn.endMs - turn.startMs + 1);
    const distance = outside > 0 ? 1 + outside : inside;
    if (!best || distance < best.distance) best = { turn, distance };
  }
  return best?.turn;
}
