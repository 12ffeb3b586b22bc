import type { CreateStreamTokenResponseJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { ApiError } from "../api/api-error.ts";
import { callApi } from "../api/call-api.ts";

/**
 * Creates a token for one stream, because pages have no API key. No token is created while another
 * user than `owner` is signed in: audio is sent only for the user who spoke.
 */
export async function createStreamToken(
  owner: string,
  isSignedIn: () => boolean,
  signal: AbortSignal,
): Promise<string> {
  if (!isSignedIn()) {
    throw new ApiError("another user is signed in", { status: 401, reason: "SIGNED_OUT" });
  }
  const { token = "" } = await callApi<CreateStreamTokenResponseJson>("/v1/streamTokens", {
    method: "POST",
    body: {},
    signal,
    owner,
  });
  return token;
}
