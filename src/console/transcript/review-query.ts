import { queryOptions } from "@tanstack/react-query";
import type {
  ReviewJson,
  ReviewRange_KindJson,
  ReviewRangeJson,
} from "../../gen/hlust/transcripts/v1alpha1/review_pb.ts";
import { callApi } from "../api/call-api.ts";
import { secondsOf } from "../text/numbers.ts";

/** A stretch of time in seconds that someone has marked. */
export interface MarkedStretch {
  readonly start: number;
  readonly end: number;
  readonly author: string;
  /** The name of the author; "" if it is not known. */
  readonly by: string;
}

/** How often marks of others are asked for. */
const everyMs = 30_000;

/** What has been checked and listened to. `name` is transcripts/<transcript_id>. */
export function reviewQuery(name: string) {
  return queryOptions({
    queryKey: ["transcript-review", name],
    queryFn: ({ signal }) => callApi<ReviewJson>(`/v1alpha1/${name}/review`, { signal }),
    refetchInterval: everyMs,
  });
}

/** A change of a review: ranges are removed, then others added. */
export interface ReviewChange {
  readonly add?: readonly ReviewRangeJson[];
  readonly remove?: readonly ReviewRangeJson[];
}

/** Marks parts of a transcript, or removes marks. Returns the review after the change. */
export function modifyReview(name: string, change: ReviewChange): Promise<ReviewJson> {
  return callApi(`/v1alpha1/${name}:modifyReview`, { method: "POST", body: change });
}

/** Returns the stretches of one kind, in the order of their starts. */
export function stretchesOf(
  review: ReviewJson | undefined,
  kind: ReviewRange_KindJson,
): readonly MarkedStretch[] {
  const ranges = (review?.ranges ?? []).filter((range) => range.kind === kind);
  return ranges.map(({ startTime, endTime, author = "", authorName = "" }) => {
    return { start: secondsOf(startTime), end: secondsOf(endTime), author, by: authorName };
  });
}
