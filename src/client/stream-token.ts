import type { JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { isObject } from "../transcoding/is-object.ts";
import { errorOfConnection, errorOfResponse } from "./read-error.ts";
import { unlessAborted } from "../std/until-aborted.ts";

/**
 * The source of a token for one live stream, for a page without a key. It is a function that
 * returns a token, or a URL of the page's own server. That server receives a POST and responds like
 * accounts.createStreamToken(): {"token": "..."}.
 */
export type StreamTokenSource = string | ((signal: AbortSignal) => Promise<string>);

/** Gets a new token for one stream. Throws ConnectError. */
export async function askForStreamToken(
  source: StreamTokenSource,
  signal: AbortSignal,
): Promise<string> {
  if (typeof source === "function") return await unlessAborted(source(signal), signal);
  try {
    const headers = { accept: "application/json" };
    const response = await fetch(source, { method: "POST", headers, signal });
    if (!response.ok) throw await errorOfResponse(response);
    const answer = jsonOf(await response.text());
    const token = isObject(answer) ? answer["token"] : undefined;
    if (typeof token === "string" && token !== "") return token;
  } catch (error) {
    throw errorOfConnection(error, "the stream token cannot be fetched");
  }
  throw new ConnectError("the answer has no stream token", Code.Internal);
}

function jsonOf(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
