import type { Edit } from "./align-words.ts";
import type { Token } from "./normalization/token.ts";
import type { ScorableText, TimedWord } from "./scorable-text.ts";

/** A run of errors between words that are the same. */
export interface Difference {
  /** The first edit of the run, and the edit after the last one. */
  readonly from: number;
  readonly to: number;
  /** The normalized words; empty for an insertion. */
  readonly said: readonly string[];
  /** Empty for a deletion. */
  readonly recognized: readonly string[];
  /**
   * The part of the recording in which the difference lies: from the end of the recognized word
   * before it to the start of the one after it, if words are missing, and else the recognized words
   * themselves.
   */
  readonly startMs: number;
  readonly endMs: number;
}

/** Returns the runs of errors of an alignment, in order, with their place in the recording. */
export function findDifferences(
  alignment: {
    readonly said: readonly Token[];
    readonly recognized: readonly Token[];
    readonly edits: readonly Edit[];
  },
  text: Pick<ScorableText, "recognized" | "durationMs">,
): Difference[] {
  const { edits } = alignment;
  const differences: Difference[] = [];
  for (let from = 0; from < edits.length; from += 1) {
    if (edits[from]?.kind === "same") continue;
    let to = from + 1;
    while (to < edits.length && edits[to]?.kind !== "same") to += 1;
    const run = edits.slice(from, to);
    const said = run.flatMap((edit) => ("said" in edit ? [edit.said] : []));
    const recognized = run.flatMap((edit) => ("recognized" in edit ? [edit.recognized] : []));
    const isMissing = recognized.length < said.length;
    const next = edits[to];
    const before = edits[from - 1];
    const tokens = alignment.recognized;
    const firstToken = tokens[recognized[0] ?? -1];
    const lastToken = tokens[recognized.at(-1) ?? -1];
    const beforeToken = before && "recognized" in before ? tokens[before.recognized] : undefined;
    const nextToken = next && "recognized" in next ? tokens[next.recognized] : undefined;
    const beforeMs = endOf(text.recognized, beforeToken) ?? 0;
    const nextMs = startOf(text.recognized, nextToken) ?? text.durationMs;
    const start = isMissing ? beforeMs : (startOf(text.recognized, firstToken) ?? beforeMs);
    const end = isMissing ? nextMs : (endOf(text.recognized, lastToken) ?? nextMs);
    const [startMs, endMs] = [Math.min(start, end), Math.max(start, end)];
    differences.push({
      from,
      to,
      said: said.map((at) => alignment.said[at]?.text ?? ""),
      recognized: recognized.map((at) => tokens[at]?.text ?? ""),
      startMs: Math.max(0, Math.min(startMs, text.durationMs)),
      endMs: Math.max(0, Math.min(endMs, text.durationMs)),
    });
    from = to;
  }
  return differences;
}

function startOf(words: readonly TimedWord[], token: Token | undefined): number | undefined {
  return token && words[token.from]?.startMs;
}

function endOf(words: readonly TimedWord[], token: Token | undefined): number | undefined {
  return token && words[token.to - 1]?.endMs;
}
