import type { Phrase } from "./language.tsx";

/** The details of an act, in the form in which the audit log stores them. */
type Details = Readonly<Record<string, string>>;
type Act = Phrase<(details: Details) => string>;

const isQuoted = (text = "") => `„${text}“`;
const enQuoted = (text = "") => `“${text}”`;

const plain = (is: string, en: string): Act => ({ is: () => is, en: () => en });
const named = (is: string, en: string): Act => ({
  is: ({ displayName }) => (displayName ? `${is} ${isQuoted(displayName)}` : is),
  en: ({ displayName }) => (displayName ? `${en} ${enQuoted(displayName)}` : en),
});
const ofPerson = (is: string, en: string): Act => ({
  is: ({ email = "" }) => `${is} ${email}`.trim(),
  en: ({ email = "" }) => `${en} ${email}`.trim(),
});

/** The text that the audit log shows after the name of the actor, for each act. */
const acts: Readonly<Record<string, Act>> = {
  "access.refused": plain("reyndi óheimila aðgerð", "attempted something without permission"),
  "account.create": plain("stofnaði reikninginn", "created the account"),
  "account.update": plain("breytti reikningnum", "updated the account"),
  "limits.update": plain("breytti mörkum reikningsins", "changed the account's limits"),
  "api_key.create": named("bjó til API-lykilinn", "created the API key"),
  "api_key.update": named("breytti API-lykli", "changed an API key"),
  "api_key.rotate": named("endurnýjaði API-lykilinn", "rotated the API key"),
  "api_key.delete": named("afturkallaði API-lykilinn", "revoked the API key"),
  "client_key.create": named("skráði undirritunarlykilinn", "registered the signing key"),
  "client_key.update": named("breytti undirritunarlykli", "changed a signing key"),
  "client_key.delete": named("afturkallaði undirritunarlykilinn", "revoked the signing key"),
  "member.create": ofPerson("bauð", "invited"),
  "member.update": plain("breytti hlutverki eða nafni", "changed a role or name"),
  "member.delete": ofPerson("fjarlægði", "removed"),
  "review.remove": plain("fjarlægði yfirlestrarmerki", "removed review marks"),
  "session.create": plain("skráði sig inn", "signed in"),
  "session.delete": plain("lauk innskráningu", "ended a session"),
  "sign_in.refused": plain("gat ekki skráð sig inn", "failed to sign in"),
  "invitation.send": ofPerson("sendi boð í pósti á", "sent an invitation by email to"),
  "sign_in_token.create": plain("bjó til innskráningartengil", "created a sign-in link"),
  "stream_token.create": plain("opnaði beint streymi", "opened a live stream"),
  "share.create": plain("bjó til tengil á uppskrift", "created a link to a transcript"),
  "share.delete": plain("afturkallaði tengil á uppskrift", "revoked a link to a transcript"),
  "transcript.bin": plain("setti uppskrift í ruslið", "moved a transcript to the bin"),
  "transcript.restore": plain("tók uppskrift úr ruslinu", "restored a transcript from the bin"),
  "transcript.delete": plain("eyddi uppskrift", "deleted a transcript"),
  "vocabulary.create": plain("bætti orði við orðaforðann", "added a phrase to the vocabulary"),
  "vocabulary.import": {
    is: ({ phrases = "" }) => `flutti inn ${phrases} orð í orðaforðann`,
    en: ({ phrases = "" }) => `imported ${phrases} phrases into the vocabulary`,
  },
  "vocabulary.update": plain("breytti orði í orðaforðanum", "changed a phrase of the vocabulary"),
  "vocabulary.delete": plain("eyddi orði úr orðaforðanum", "deleted a phrase of the vocabulary"),
  "webhook.create": named("bætti við vefkróknum", "added the webhook"),
  "webhook.update": plain("breytti vefkrók", "updated a webhook"),
  "webhook.delete": plain("eyddi vefkrók", "deleted a webhook"),
  "webhook.rotate_secret": plain("endurnýjaði leyndarmál vefkróks", "rotated a webhook's secret"),
};

/**
 * Describes an act. An act from a newer service, which is missing in the table, is shown by its
 * name.
 */
export function actText(action: string, details: Details): Phrase<string> {
  const act = Object.hasOwn(acts, action) ? acts[action] : undefined;
  return { is: act?.is(details) ?? action, en: act?.en(details) ?? action };
}
