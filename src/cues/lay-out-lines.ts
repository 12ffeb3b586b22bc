import type { Atom } from "./atoms.ts";
import { breakCost } from "./break-cost.ts";
import { subtitleRules } from "./subtitle-rules.ts";

/** Distributes the atoms of a cue over at most two lines of similar length, with a good break. */
export function layOutLines(
  atoms: readonly Atom[],
  lineChars: number = subtitleRules.lineChars,
): string[] {
  const whole = textOf(atoms);
  if (charsOf(atoms) <= lineChars) return [whole];
  let best = { at: 0, cost: Infinity };
  for (let at = 1; at < atoms.length; at += 1) {
    const [before, after] = [atoms[at - 1], atoms[at]];
    const chars = charsOf(atoms.slice(0, at));
    const rest = charsOf(atoms.slice(at));
    const isFitting = Math.max(chars, rest) <= lineChars;
    if (!before || !after || !isFitting) continue;
    const cost = breakCost(before, after) + 2 * Math.abs(chars - rest);
    if (cost < best.cost) best = { at, cost };
  }
  return [textOf(atoms.slice(0, best.at)), textOf(atoms.slice(best.at))];
}

/** Returns the number of visible characters in a line. */
export function charsOf(atoms: readonly Atom[]): number {
  let chars = 0;
  for (const [index, atom] of atoms.entries()) {
    chars += atom.chars + (index > 0 && atom.spaced ? 1 : 0);
  }
  return chars;
}

function textOf(atoms: readonly Atom[]): string {
  let text = "";
  for (const [index, atom] of atoms.entries()) {
    text += index > 0 && atom.spaced ? ` ${atom.text}` : atom.text;
  }
  return text;
}
