import { createContextKey, type Interceptor } from "@connectrpc/connect";
import type { Authenticator } from "../auth/authenticate.ts";
import { callerOf } from "../auth/caller.ts";
import { ServiceError } from "../std/service-error.ts";
import { unlessAborted, untilAborted } from "../std/until-aborted.ts";
import { breakOffSoon, type HttpResponse } from "./http.ts";

/** The response object of a call, set by the door. */
export const responseKey = createContextKey<HttpResponse | undefined>(undefined, {
  description: "the answer of the call",
});

/**
 * Ends calls that must not continue, whether or not their method stops: streams whose credential
 * was revoked and, when `shutdown` aborts, all remaining calls, with the reason of `shutdown`. The
 * method's signal aborts, and the messages to the method end with the response.
 */
export function endCalls(authenticator: Authenticator, shutdown: AbortSignal): Interceptor {
  return (next) => async (request) => {
    if (!request.stream) {
      try {
        return await unlessAborted(next(request), shutdown);
      } catch (error) {
        // An error that a method throws because it was aborted is not a failure of the method.
        throw shutdown.aborted && !(error instanceof ServiceError) ? shutdown.reason : error;
      }
    }
    const { contextValues, method } = request;
    const over = new AbortController();
    const signal = AbortSignal.any([request.signal, over.signal]);
    const response = await next({ ...request, signal });
    if (!response.stream) return response;

    async function* watched<T>(answers: AsyncIterable<T>): AsyncIterable<T> {
      using _watched = authenticator.watch(
        callerOf({ values: contextValues }),
        method,
        (reason) => {
          over.abort(reason);
          const answer = contextValues.get(responseKey);
          if (answer) breakOffSoon(answer);
        },
      );
      const shutDown = () => {
        over.abort(shutdown.reason);
      };
      if (shutdown.aborted) shutDown();
      shutdown.addEventListener("abort", shutDown);
      try {
        yield* untilAborted(answers, over.signal);
      } catch (error) {
        // The error of an aborted response is not a failure of the method.
        throw over.signal.aborted ? over.signal.reason : error;
      } finally {
        shutdown.removeEventListener("abort", shutDown);
      }
    }
    return { ...response, message: watched(response.message) };
  };
}
