import type { MemberJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import type { Language } from "../text/language.tsx";

/** Sends a member a link by mail, in the language of the page. */
export async function sendInvitation(
  { name = "" }: MemberJson,
  languageCode: Language,
): Promise<MemberJson> {
  return await callApi<MemberJson>(`/v1/${name}:sendInvitation`, {
    method: "POST",
    body: { languageCode },
  });
}
