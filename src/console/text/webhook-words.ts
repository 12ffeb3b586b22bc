import type { Explained } from "./explained-messages.ts";

type Explain = (parts: readonly string[]) => Explained;

const plain =
  (is: string, en: string): Explain =>
  () => ({ is, en });

/**
 * Patterns of the service's English messages about webhooks, which end a sentence, and what the
 * console shows instead.
 */
const explanations: readonly (readonly [RegExp, Explain])[] = [
  [
    /^the receiver answered (\d+)(.*): redirects are not followed$/,
    ([status = "", name = ""]) => ({
      is: `svarið var ${status}${name}, en framsendingum er ekki fylgt`,
      en: `the answer was ${status}${name}, and redirects are not followed`,
    }),
  ],
  [
    /^the receiver answered (\d+)(.*)$/,
    ([status = "", name = ""]) => ({
      is: `svarið var ${status}${name}`,
      en: `the answer was ${status}${name}`,
    }),
  ],
  [
    /^the receiver did not answer within (\d+) s$/,
    ([seconds = ""]) => ({
      is: `ekkert svar barst innan ${seconds} sekúndna`,
      en: `there was no answer within ${seconds} seconds`,
    }),
  ],
  [
    /^nothing was accepted for (\d+) days; the last time (.*)$/,
    ([days = "", problem = ""]) => {
      const last = webhookWords(problem);
      return {
        ...last,
        is: `engin skilaboð komust til skila í ${days} daga; síðast: ${last.is}`,
        en: `no message was accepted for ${days} days; the last time: ${last.en}`,
      };
    },
  ],
  [
    /host of the receiver could not be reached/,
    plain("ekki náðist í vélina", "the host could not be reached"),
  ],
  [
    /host of the receiver does not exist/,
    plain(
      "vélin er ekki til: nafnið finnst ekki",
      "the host does not exist: there is no such name",
    ),
  ],
  [
    /could not be looked up/,
    plain(
      "ekki tókst að fletta upp nafni vélarinnar",
      "the name of the host could not be looked up",
    ),
  ],
  [/refused the connection/, plain("vélin hafnaði tengingu", "the host refused the connection")],
  [/broke the connection off/, plain("tengingin rofnaði", "the connection broke off")],
  [
    /certificate of the receiver cannot be trusted/,
    plain("skilríki vélarinnar eru ekki traust", "the certificate of the host cannot be trusted"),
  ],
  [/does not answer in HTTP/, plain("svarið var ekki HTTP", "the answer was not HTTP")],
  [
    /^the webhook was disabled until its day was over$/,
    plain(
      "vefkrókurinn var óvirkur þangað til dagurinn var liðinn",
      "the webhook was disabled until the day was over",
    ),
  ],
  [
    /the service failed to send it/,
    plain(
      "þjónustan gat ekki sent skilaboðin; dagbók hennar segir hvers vegna",
      "the service could not send it; the service's log has the reason",
    ),
  ],
  [
    /^the URL has a port other than 80 and 443$/,
    plain("slóðin notar aðra gátt en 80 og 443", "the URL has a port other than 80 and 443"),
  ],
  [
    /^the address of the host is not public$/,
    plain(
      "slóðin er á lokuðu neti, sem þjónustan sendir ekkert á",
      "the URL is on a private network, which the service sends nothing to",
    ),
  ],
];

/**
 * Returns the reason of a failure in the console's words, as the end of a sentence. After
 * that of an unknown reason, its detail follows.
 */
export function webhookWords(problem: string): Explained {
  for (const [pattern, explain] of explanations) {
    const match = pattern.exec(problem);
    if (match) return explain(match.slice(1));
  }
  const [is, en] = ["ástæðan er óþekkt:", "the reason is not known:"];
  return { is, en, detail: problem };
}
