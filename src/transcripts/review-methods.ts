import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf, type Caller } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  ReviewRange_Kind as Kind,
  ReviewRangeSchema,
  ReviewSchema,
  type ModifyReviewRequest,
  type Review,
  type ReviewRange,
} from "../gen/hlust/transcripts/v1alpha1/review_pb.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromNs, timestampFromDate } from "../std/duration.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, type FieldViolation } from "../std/service-error.ts";
import { nanosecondsOf, timeTrouble } from "./check-segments.ts";
import { throwViolations } from "./check-values.ts";
import { modifyMarks, type MarkChange, type MarkedRange } from "./modify-marks.ts";
import { transcriptIdIn, transcriptNotFound } from "./resource-names.ts";
import {
  findMarks,
  findReview,
  lockReview,
  replaceMarks,
  type ReviewKind,
  type StoredReview,
} from "./review-store.ts";

/** The maximum number of ranges of a transcript, and of each list of a request. */
export const reviewMax = { ranges: 10_000, changes: 1_000 } as const;

/** The methods of reviews: which parts of a transcript were checked and listened to. */
export function reviewMethods(parts: { readonly db: Kysely<Tables>; readonly log: Log }) {
  const { db } = parts;
  return {
    async getReview({ name }, context) {
      const { accountId } = callerOf(context);
      const review = await findReview(db, accountId, transcriptIdIn(name));
      if (!review) throw transcriptNotFound(name);
      return reviewMessage(name, review);
    },

    async modifyReview(request, context) {
      const caller = callerOf(context);
      const { name } = request;
      const id = transcriptIdIn(name);
      throwViolations([
        ...checkRanges("add", request.add),
        ...checkRanges("remove", request.remove),
      ]);
      return reviewMessage(name, await modifyReview(parts, caller, id, request));
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

async function modifyReview(
  parts: { readonly db: Kysely<Tables>; readonly log: Log },
  caller: Caller,
  transcriptId: string,
  request: ModifyReviewRequest,
): Promise<StoredReview> {
  const { accountId, actor } = caller;
  const change: MarkChange = {
    author: actor,
    add: request.add.map(markedRange),
    remove: request.remove.map(markedRange),
  };
  const all = [...change.add, ...change.remove];
  return await audited(parts, caller, async (trx, record) => {
    if (!(await lockReview(trx, accountId, transcriptId))) throw transcriptNotFound(request.name);
    const marks = await findMarks(trx, transcriptId, {
      kinds: new Set(all.map(({ kind }) => kind)),
      start: all.reduce((least, { start }) => Math.min(least, start), Infinity),
      end: all.reduce((most, { end }) => Math.max(most, end), -Infinity),
    });
    const { gone, created } = modifyMarks(marks, change);
    if (gone.length + created.length > 0) {
      const count = await replaceMarks(trx, transcriptId, { gone, created });
      if (count > reviewMax.ranges) throw reviewFull(count);
      // Marks state that text is right, so removing those of others is an act of its own.
      const authors = new Set(gone.map(({ author }) => author)).difference(new Set([actor]));
      if (authors.size > 0) {
        const details = { authors: [...authors].slice(0, 10).join(",") };
        await record({ action: "review.remove", resource: request.name, details });
      }
    }
    const review = await findReview(trx, accountId, transcriptId);
    if (!review) throw transcriptNotFound(request.name);
    return review;
  });
}

const kinds: Readonly<Record<number, ReviewKind | undefined>> = {
  [Kind.CHECKED]: "CHECKED",
  [Kind.LISTENED]: "LISTENED",
};

/** Finds violations in the ranges of a request. */
function* checkRanges(list: string, ranges: readonly ReviewRange[]): Generator<FieldViolation> {
  const { changes } = reviewMax;
  if (ranges.length > changes) {
    yield {
      field: list,
      description: `has ${ranges.length} ranges; at most ${changes} are allowed`,
    };
  }
  for (const [index, { kind, startTime, endTime }] of ranges.entries()) {
    const place = `${list}[${index}]`;
    const [start, end] = [timeTrouble(startTime), timeTrouble(endTime)];
    if (!kinds[kind])
      yield { field: `${place}.kind`, description: "CHECKED or LISTENED is required" };
    if (start !== undefined) yield { field: `${place}.startTime`, description: start };
    if (end !== undefined) yield { field: `${place}.endTime`, description: end };
    if (start === undefined && end === undefined) {
      const isAfter = nanosecondsOf(endTime) > nanosecondsOf(startTime);
      if (!isAfter) yield { field: `${place}.endTime`, description: "is not after its startTime" };
    }
  }
}

/** Returns the range of a message that checkRanges() accepts. */
function markedRange({ kind, startTime, endTime }: ReviewRange): MarkedRange {
  const marked = kinds[kind];
  if (!marked) throw new TypeError(`the kind ${kind} was not refused`);
  return { kind: marked, start: nanosecondsOf(startTime), end: nanosecondsOf(endTime) };
}

function reviewMessage(transcript: string, { etag, marks }: StoredReview): Review {
  return create(ReviewSchema, {
    name: `${transcript}/review`,
    etag,
    ranges: marks.map(({ kind, start, end, author, authorName, updatedAt }) =>
      create(ReviewRangeSchema, {
        kind: Kind[kind],
        startTime: durationFromNs(start),
        endTime: durationFromNs(end),
        author,
        authorName,
        updateTime: timestampFromDate(updatedAt),
      }),
    ),
  });
}

function reviewFull(count: number): ServiceError {
  const { ranges } = reviewMax;
  const problem = `the review would have ${count} ranges; at most ${ranges} are allowed`;
  return new ServiceError("resource_exhausted", `${problem}: remove some first`, {
    reason: "REVIEW_FULL",
    metadata: { limit: "ranges", value: `${ranges}` },
  });
}
