import type { SegmentJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { atOnce } from "../../../../std/at-once.ts";
import { type Base, baseOfSteps, type EditedParagraph } from "../model/base.ts";
import { type Clash, mergeSteps } from "../model/merge.ts";
import { type Rebased, rebasedSteps } from "../model/rebase.ts";
import type { Retimings } from "../model/retimings.ts";
import type { Replacement } from "../model/replacements.ts";
import { replacementsInSteps } from "./replacements-in.ts";

/** An edited text, and the version of it that was saved last. */
export interface Mine {
  readonly base: Base;
  readonly paragraphs: readonly EditedParagraph[];
  readonly retimings: Retimings;
  /** What was saved last; undefined if it is the base or not known. */
  readonly saved: SavedSegments | undefined;
}

interface SavedSegments {
  readonly segments: readonly SegmentJson[];
  readonly retimings: Retimings;
}

/** An edited text with the changes of a version that others have saved. */
export interface JoinedText {
  /** The paragraphs. Where both have changed the same in different ways, they have mine. */
  readonly paragraphs: readonly EditedParagraph[];
  readonly retimings: Retimings;
  readonly clashes: readonly Clash[];
  /** For each edge between words of the base, its number in the version. */
  readonly edges: Int32Array;
  /** What has to be replaced in the edited text, whose runs are then those of the version. */
  readonly replacements: readonly Replacement[];
}

/** Brings the changes of a version that others have saved into an edited text. */
export function joinedText(mine: Mine, theirs: Base): JoinedText {
  return atOnce(joinedTextSteps(mine, theirs));
}

/** Does the same as joinedText(), and yields often. */
export function* joinedTextSteps(mine: Mine, theirs: Base): Generator<void, JoinedText, void> {
  const before = yield* onSaved(mine);
  const merged = yield* mergeSteps({ ...before, theirs });
  yield;
  const edges = before.edges.map((edge) => merged.edges[edge] ?? theirs.words.length);
  const { paragraphs, retimings, clashes } = merged;
  return {
    paragraphs,
    retimings,
    clashes,
    edges,
    replacements: yield* replacementsInSteps(mine.paragraphs, { edges, paragraphs }),
  };
}

/**
 * Returns the edited text over the version that was saved last, so that what was saved does not
 * count as a change again. A draft whose saved version is not known stays over its own base.
 */
function* onSaved({
  base,
  paragraphs,
  retimings,
  saved,
}: Mine): Generator<void, Rebased & { readonly base: Base }, void> {
  if (!saved || saved.segments === base.segments) {
    const edges = new Int32Array(base.words.length + 1);
    for (let at = 0; at < edges.length; at += 1) edges[at] = at;
    return { base, paragraphs, retimings, edges };
  }
  const savedBase = yield* baseOfSteps(saved.segments);
  const savedRetimings = saved.retimings;
  const edited = { base, paragraphs, retimings, saved: savedBase, savedRetimings };
  return { base: savedBase, ...(yield* rebasedSteps(edited)) };
}
