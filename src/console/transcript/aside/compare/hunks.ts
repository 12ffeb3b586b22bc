import type {
  SegmentJson,
  WordRunJson,
} from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { secondsOf } from "../../../text/numbers.ts";

/** Consecutive words of a hunk that have the same kind. */
export interface HunkPart {
  readonly kind: "kept" | "added" | "removed" | "retimed";
  readonly text: string;
  /** The number of words in the part. */
  readonly count: number;
  /** The old and the new start of retimed words, in seconds. */
  readonly moved: { readonly from: number; readonly to: number } | undefined;
}

/** A place that changed, with a few words before and after it. */
export interface Hunk {
  /** The index of the hunk's first run, which stays the same while more of the diff is read. */
  readonly id: number;
  /** The time in seconds from the start of the recording; undefined if it is unknown. */
  readonly at: number | undefined;
  readonly parts: readonly HunkPart[];
}

/** The number of words shown before and after a change. */
const contextWords = 8;
/** Changes with at most this many words between them are combined into one hunk. */
const betweenWords = 20;
/** A hunk with more runs than this is split. */
const partsMax = 60;

const kinds: Readonly<Record<string, HunkPart["kind"]>> = {
  KEPT: "kept",
  ADDED: "added",
  REMOVED: "removed",
  RETIMED: "retimed",
};

/**
 * Returns the words of a version, each with a space after it, even if the segment ends without a
 * space.
 */
export function wordsOf(segments: readonly SegmentJson[]): string[] {
  return segments.flatMap(({ words = [] }) =>
    words.map(({ word = "" }, index) =>
      index === words.length - 1 && !/\s$/.test(word) ? `${word} ` : word,
    ),
  );
}

/**
 * Groups the runs of a diff into hunks. `words` has the words of the compared version (wordsOf).
 */
export function hunksOf(runs: readonly WordRunJson[], words: readonly string[]): Hunk[] {
  const hunks: { id: number; at: number | undefined; parts: HunkPart[] }[] = [];
  let open: (typeof hunks)[number] | undefined;
  let before: HunkPart | undefined;
  for (const [id, run] of runs.entries()) {
    const { kind, count = 0, wordIndex = 0 } = run;
    const part = partOf(run, words);
    if (!part || (open && open.parts.length >= partsMax)) open = undefined;
    if (part) {
      if (!open) {
        open = { id, at: startOf(run), parts: before ? [before] : [] };
        hunks.push(open);
      }
      open.parts.push(part);
      before = undefined;
    } else if (kind === "KEPT") {
      const end = wordIndex + count;
      const last = hunks.at(-1);
      const isBetween = count <= betweenWords && id < runs.length - 1 && last !== undefined;
      if (isBetween && last.parts.length < partsMax) {
        last.parts.push(kept(words, wordIndex, end));
        open = last;
        before = undefined;
      } else {
        last?.parts.push(kept(words, wordIndex, Math.min(end, wordIndex + contextWords)));
        before = kept(words, Math.max(wordIndex, end - contextWords), end);
      }
    }
  }
  return hunks;
}

function partOf(run: WordRunJson, words: readonly string[]): HunkPart | undefined {
  const kind = kinds[run.kind ?? ""];
  if (kind === undefined || kind === "kept") return undefined;
  const moved =
    kind === "retimed"
      ? { from: secondsOf(run.againstStartTime), to: secondsOf(run.startTime) }
      : undefined;
  const { text = "", count = 0, wordIndex = 0 } = run;
  // The text of the version itself is preferred once it has been read.
  const own = kind === "removed" ? "" : words.slice(wordIndex, wordIndex + count).join("");
  return { kind, text: own === "" ? text : own, count, moved };
}

function kept(words: readonly string[], from: number, to: number): HunkPart {
  return {
    kind: "kept",
    text: words.slice(from, to).join(""),
    count: to - from,
    moved: undefined,
  };
}

function startOf({ startTime, againstStartTime }: WordRunJson): number | undefined {
  const time = startTime ?? againstStartTime;
  return time === undefined || time === null ? undefined : secondsOf(time);
}

/**
 * Returns the first `wordsMax` words of a text, or undefined if the text has no more words than
 * that.
 */
export function excerptOf(text: string, wordsMax: number): string | undefined {
  let at = -1;
  for (let words = 0; words < wordsMax; words += 1) {
    at = text.indexOf(" ", at + 1);
    if (at === -1) return undefined;
  }
  return at >= text.trimEnd().length ? undefined : text.slice(0, at);
}
