import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { ApiError } from "../api/api-error.ts";
import { isRetryable } from "../api/call-api.ts";
import { sessionQuery } from "../api/session.ts";
import { firstArrival, takeArrival, type Arrival } from "./arrival.ts";
import { enter } from "./enter.ts";

/** The state of signing in with the link that opened this page, if a link opened it. */
export interface LinkState {
  /** Whether signing in is in progress. */
  readonly isEntering: boolean;
  /** Why signing in with a link or the provider failed. */
  readonly problem?: unknown;
  /** Signs in with the same link again; present only if the link may still be valid. */
  readonly retry?: () => void;
}

let state: LinkState = { isEntering: false };
const listeners = new Set<() => void>();

/** Signs in with the link that opened this page, and with links opened in the same tab later. */
export function followLinks(queries: QueryClient): void {
  addEventListener("hashchange", () => follow(queries, takeArrival()));
  follow(queries, firstArrival);
}

export function useLink(): LinkState {
  return useSyncExternalStore(subscribe, () => state);
}

/** Removes the problem once the user has seen it. */
export function forgetLink(): void {
  show({ isEntering: false });
}

function follow(queries: QueryClient, arrival: Arrival | undefined): void {
  if (!arrival) return;
  if ("signInToken" in arrival) void enterBy(queries, arrival.signInToken);
  else {
    const problem = new ApiError("signing in failed", { status: 0, reason: arrival.problem });
    show({ isEntering: false, problem });
  }
}

async function enterBy(queries: QueryClient, signInToken: string): Promise<void> {
  show({ isEntering: true });
  try {
    queries.setQueryData(sessionQuery.queryKey, await enter({ signInToken }));
    show({ isEntering: false });
  } catch (problem) {
    const retry = () => void enterBy(queries, signInToken);
    show({ isEntering: false, problem, ...(isRetryable(problem) && { retry }) });
  }
}

function show(next: LinkState): void {
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
