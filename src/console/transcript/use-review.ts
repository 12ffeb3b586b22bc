import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReviewJson } from "../../gen/hlust/transcripts/v1alpha1/review_pb.ts";
import {
  type MarkedStretch,
  modifyReview,
  type ReviewChange,
  reviewQuery,
  stretchesOf,
} from "./review-query.ts";

/** The stretches that have been checked, and those that have been listened to. */
export interface Stretches {
  readonly checked: readonly MarkedStretch[];
  readonly listened: readonly MarkedStretch[];
}

const none: Stretches = { checked: [], listened: [] };

/**
 * Reads the marks of a transcript, of which there are none until the service has answered. A list
 * stays the same object until it changes: what is listened to changes often.
 */
export function useStretches(name: string): Stretches {
  const { data } = useQuery({ ...reviewQuery(name), select: stretchesIn });
  return data ?? none;
}

function stretchesIn(review: ReviewJson): Stretches {
  return { checked: stretchesOf(review, "CHECKED"), listened: stretchesOf(review, "LISTENED") };
}

/** Changes the marks of a transcript. Changes run one after another. */
export function useReviewChange(name: string) {
  const queries = useQueryClient();
  const { queryKey } = reviewQuery(name);
  return useMutation({
    scope: { id: `review of ${name}` },
    mutationFn: async (change: ReviewChange) => {
      // A response that is still in flight does not contain the change.
      await queries.cancelQueries({ queryKey });
      return await modifyReview(name, change);
    },
    onSuccess: (review) => {
      queries.setQueryData(queryKey, review);
    },
  });
}
