import type {
  SegmentJson,
  WordRunJson,
} from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { secondsOf } from "../../../text/numbers.ts";

/** Words of a place that changed: changed ones, and those around them. */
export interface HunkPart {
  readonly kind: "kept" | "added" | "removed" | "retimed";
  readonly text: string;
  /** How many words it is. */
  readonly count: number;
  /** Of retimed ones: where they began, and begin, in seconds. */
  readonly moved: { readonly from: number; readonly to: number } | undefined;
}

/** A place that changed, with a few words before and after it. */
export interface Hunk {
  /** Which run it begins with: the same in every look at the same difference. */
  readonly id: number;
  /** Seconds from the start of the recording; undefined where nothing tells. */
  readonly at: number | undefined;
  readonly parts: readonly HunkPart[];
}

/** Words that are shown before and after a change. */
const contextWords = 8;
/** Changes with no more words than this between them are one place. */
const betweenWords = 20;
/** A place with more runs than this goes on as another one. */
const partsMax = 60;

const kinds: Readonly<Record<string, HunkPart["kind"]>> = {
  KEPT: "kept",
  ADDED: "added",
  REMOVED: "removed",
  RETIMED: "retimed",
};

/** The words of a version, each with the space after it; segments may end without one. */
export function wordsOf(segments: readonly SegmentJson[]): string[] {
  return segments.flatMap(({ words = [] }) =>
    words.map(({ word = "" }, index) =>
      index === words.length - 1 && !/\s$/.test(word) ? `${word} ` : word,
    ),
  );
}

/**
 * Groups the runs of a difference into places. `words` are those of the version that is compared,
 * each with the space after it.
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
  // What the version has is written as in the version, where that is there already.
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
 * The first words of a text, where it has more than a screen of them; undefined where it has not.
 */
export function excerptOf(text: string, wordsMax: number): string | undefined {
  let at = -1;
  for (let words = 0; words < wordsMax; words += 1) {
    at = text.indexOf(" ", at + 1);
    if (at === -1) return undefined;
  }
  return at >= text.trimEnd().length ? undefined : text.slice(0, at);
}
