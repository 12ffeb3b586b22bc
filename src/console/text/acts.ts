import type { Phrase } from "./language.tsx";

/** Short facts of an act, as the audit log has them. */
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

/** What the audit log tells was done, after the name of who did it. */
const acts: Readonly<Record<string, Act>> = {
  "access.refused": plain("reyndi það sem ekki mátti", "tried what was not allowed"),
  "account.create": plain("stofnaði reikninginn", "opened the account"),
  "account.update": plain("breytti reikningnum", "changed the account"),
  "limits.update": plain("breytti mörkum reikningsins", "changed the limits of the account"),
  "api_key.create": named("bjó til API-lykilinn", "made the API key"),
  "api_key.delete": named("afturkallaði API-lykilinn", "revoked the API key"),
  "client_key.create": named("skráði undirritunarlykilinn", "registered the signing key"),
  "client_key.delete": named("afturkallaði undirritunarlykilinn", "revoked the signing key"),
  "member.create": ofPerson("bauð", "invited"),
  "member.update": plain("breytti hlutverki eða nafni", "changed a role or a name"),
  "member.delete": ofPerson("fjarlægði", "removed"),
  "session.create": plain("skráði sig inn", "signed in"),
  "session.delete": plain("lauk innskráningu", "ended a session"),
  "sign_in.refused": plain("komst ekki inn", "was not let in"),
  "sign_in_token.create": plain("bjó til innskráningartengil", "made a link to sign in by"),
  "stream_token.create": plain("opnaði beint streymi", "opened a live stream"),
  "transcript.delete": plain("eyddi uppskrift", "deleted a transcript"),
  "webhook.create": named("bætti við vefkróknum", "added the webhook"),
  "webhook.update": plain("breytti vefkrók", "changed a webhook"),
  "webhook.delete": plain("eyddi vefkrók", "deleted a webhook"),
  "webhook.rotate_secret": plain("endurnýjaði leyndarmál vefkróks", "renewed a webhook's secret"),
};

/** What was done, in words; an act of a newer service is called as the log calls it. */
export function actText(action: string, details: Details): Phrase<string> {
  const act = Object.hasOwn(acts, action) ? acts[action] : undefined;
  return { is: act?.is(details) ?? action, en: act?.en(details) ?? action };
}
