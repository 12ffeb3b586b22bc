import { createContextKey, type Interceptor } from "@connectrpc/connect";
import type { Authenticator } from "../auth/authenticate.ts";
import { callerOf } from "../auth/caller.ts";
import { untilAborted } from "../std/until-aborted.ts";
import { breakOffSoon, type HttpResponse } from "./http.ts";

/** Where the door puts what a call is answered with. */
export const responseKey = createContextKey<HttpResponse | undefined>(undefined, {
  description: "the answer of the call",
});

/** Ends streams whose caller is let in no more: their method is told by its signal, and its messages end with the answer. */
export function endWhenRevoked(authenticator: Authenticator): Interceptor {
  return (next) => async (request) => {
    if (!request.stream) return await next(request);
    const { contextValues, method } = request;
    const revoked = new AbortController();
    const signal = AbortSignal.any([request.signal, revoked.signal]);
    const response = await next({ ...request, signal });
    if (!response.stream) return response;

    async function* watched<T>(answers: AsyncIterable<T>): AsyncIterable<T> {
      using _watched = authenticator.watch(
        callerOf({ values: contextValues }),
        method,
        (reason) => {
          revoked.abort(reason);
          const answer = contextValues.get(responseKey);
          if (answer) breakOffSoon(answer);
        },
      );
      try {
        yield* untilAborted(answers, revoked.signal);
      } catch (error) {
        // What an answer that is cut fails with is nobody's failure.
        throw revoked.signal.aborted ? revoked.signal.reason : error;
      }
    }
    return { ...response, message: watched(response.message) };
  };
}
