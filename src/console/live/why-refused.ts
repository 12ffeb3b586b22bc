import { Code, ConnectError } from "@connectrpc/connect";
import { ApiError } from "../api/api-error.ts";
import { callApi } from "../api/call-api.ts";

/** What is answered where a stream could be opened: it only takes a socket. */
const upgradeRequired = 426;

/**
 * Why a stream was refused. Browsers are not told, and its token was used up by asking, so that the client only knows that the token is
 * good for nothing more: the session asks at the same place.
 */
export async function whyRefused(cause: unknown, signal: AbortSignal): Promise<unknown> {
  if (!(cause instanceof ConnectError) || cause.code !== Code.Unauthenticated) return cause;
  try {
    await callApi("/v2beta1/speech:streamingrecognize", { signal });
    return cause;
  } catch (error) {
    return error instanceof ApiError && error.status === upgradeRequired ? cause : error;
  }
}
