import type { CallOrigin } from "../auth/caller.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { callOriginOf } from "./call-origin.ts";
import { originOf, refuseWithoutHttps } from "./console-page.ts";
import { readFields } from "./console-session.ts";
import { answerJson, type HttpHandler } from "./http.ts";

export interface ConsoleLinkParts {
  /**
   * Requests links that sign in, by mail to an address; undefined if the service sends no mail, or
   * if members sign in with a provider.
   */
  readonly requestLink:
    | ((
        asked: { readonly email: string; readonly languageCode: string },
        origin: CallOrigin,
      ) => Promise<void>)
    | undefined;
}

/**
 * Creates the handler of /console/session:requestLink, which answers the same whether the address
 * belongs to a member or not. Returns undefined if no links are sent by mail.
 */
export function createConsoleLink(
  { requestLink }: ConsoleLinkParts,
  held: HeldBytes,
): HttpHandler | undefined {
  if (!requestLink) return undefined;
  return async (request, response) => {
    refuseWithoutHttps(originOf(request));
    const fields = await readFields(request, held);
    await requestLink(readAsked(fields), callOriginOf(request));
    answerJson(response, 200, "{}");
  };
}

/** Reads the two fields, both of which are required. Errors never contain the address. */
function readAsked(fields: ReadonlyMap<string, unknown>) {
  const [email, languageCode] = [fields.get("email"), fields.get("languageCode")];
  if (fields.size === 2 && typeof email === "string" && typeof languageCode === "string") {
    return { email, languageCode };
  }
  throw new ServiceError(
    "invalid_argument",
    "email and languageCode are required, as strings, and no other field",
  );
}
