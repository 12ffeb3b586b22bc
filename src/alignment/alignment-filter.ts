import { shown, type FieldViolation } from "../std/service-error.ts";
import { transcriptRefIn, type TranscriptRef } from "./alignment-names.ts";
import { alignmentStates, type AlignmentState, type StoredAlignment } from "./stored-alignment.ts";

/** A filter of alignment jobs: all conditions that are set must hold. */
export interface AlignmentFilter {
  readonly state?: AlignmentState;
  readonly transcript?: TranscriptRef;
}

/** The maximum length of a filter (docs/api.md, Alignment jobs). */
export const filterCharsMax = 4096;

const forms = `state = "<state>" or transcript = "<name>"`;
const clause = /\s*(state|transcript)\s*=\s*"([^"]*)"\s*(AND\b|$)/y;

/**
 * Reads the conditions of a filter, each at most once, joined with AND:
 *
 *     state = "<state>"
 *     transcript = "transcripts/<id>"
 *     transcript = "transcripts/<id>/versions/<id>"
 */
export function parseAlignmentFilter(source: string): AlignmentFilter | FieldViolation {
  if (source === "") return {};
  if (source.length > filterCharsMax) {
    return violation(`has ${source.length} characters; at most ${filterCharsMax} are allowed`);
  }
  const filter: AlignmentFilter = {};
  for (let at = 0, isLast = false; !isLast;) {
    clause.lastIndex = at;
    const match = clause.exec(source);
    if (!match) {
      const found = source.slice(at).trim() === "" ? "the end" : shown(source.slice(at, at + 20));
      return violation(`expected ${forms} at column ${at + 1}, found ${found}`);
    }
    const [whole, field = "", value = "", joined] = match;
    if (field in filter) return violation(`has two conditions on ${field}; one is allowed`);
    const condition = field === "state" ? stateIn(value) : transcriptIn(value);
    if (typeof condition === "string") return violation(condition);
    Object.assign(filter, condition);
    at += whole.length;
    isLast = joined === "";
  }
  return filter;
}

/** Returns whether the job matches the filter. */
export function matchesFilter(job: StoredAlignment, filter: AlignmentFilter): boolean {
  const { state, transcript } = filter;
  if (state !== undefined && job.state !== state) return false;
  if (!transcript) return true;
  const { transcriptId, versionId = job.versionId } = transcript;
  return job.transcriptId === transcriptId && job.versionId === versionId;
}

function stateIn(value: string): Pick<AlignmentFilter, "state"> | string {
  const state = alignmentStates.find((each) => each === value);
  if (state !== undefined) return { state };
  return `has the state ${shown(value)}, which must be one of ${alignmentStates.join(", ")}`;
}

function transcriptIn(value: string): Pick<AlignmentFilter, "transcript"> | string {
  const transcript = transcriptRefIn(value);
  if (transcript) return { transcript };
  return `has the transcript ${shown(value)}, which must be transcripts/<id> or transcripts/<id>/versions/<id>`;
}

function violation(description: string): FieldViolation {
  return { field: "filter", description };
}
