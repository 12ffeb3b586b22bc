import type { Authenticator } from "./authenticate.ts";
import type { Meter } from "./meter.ts";

/**
 * Counts every authenticated call. Throws the authenticator's errors and TOO_MANY_REQUESTS. For a
 * live stream it also throws the errors that would end the stream immediately, so that no socket is
 * opened for it.
 */
export function meteredAuthenticator(
  authenticator: Authenticator,
  meter: Pick<Meter, "countRequest" | "checkStream">,
): Authenticator {
  return {
    ...authenticator,
    async authenticate(request, method) {
      const caller = await authenticator.authenticate(request, method);
      await meter.countRequest(caller, caller.credential.kind === "session");
      if (method.methodKind === "bidi_streaming") await meter.checkStream(caller);
      return caller;
    },
  };
}
