import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { ApiError } from "../api/api-error.ts";
import { mayPass } from "../api/call-api.ts";
import { sessionQuery } from "../api/session.ts";
import { firstArrival, takeArrival, type Arrival } from "./arrival.ts";
import { enter } from "./enter.ts";

/** How it goes with the link that this page was opened with, if it was. */
export interface LinkState {
  /** The service is asked. */
  readonly isEntering: boolean;
  /** Why signing in, by a link or elsewhere, went wrong. */
  readonly problem?: unknown;
  /** Where the same link may still be good. */
  readonly retry?: () => void;
}

let state: LinkState = { isEntering: false };
const listeners = new Set<() => void>();

/**
 * Follows the link that this page was opened with, and those that are opened in its place later.
 */
export function followLinks(queries: QueryClient): void {
  addEventListener("hashchange", () => follow(queries, takeArrival()));
  follow(queries, firstArrival);
}

export function useLink(): LinkState {
  return useSyncExternalStore(subscribe, () => state);
}

/** What went wrong has been seen. */
export function forgetLink(): void {
  show({ isEntering: false });
}

function follow(queries: QueryClient, arrival: Arrival | undefined): void {
  if (!arrival) return;
  if ("signInToken" in arrival) void enterBy(queries, arrival.signInToken);
  else {
    const problem = new ApiError("signing in went wrong", { status: 0, reason: arrival.problem });
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
    show({ isEntering: false, problem, ...(mayPass(problem) && { retry }) });
  }
}

function show(next: LinkState): void {
  state = next;
  for (const tell of listeners) tell();
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
