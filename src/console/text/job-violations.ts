import type { FieldViolation } from "../api/api-error.ts";
import { counted } from "./counted.ts";
import { languageName } from "./jobs.ts";
import type { Phrase } from "./language.tsx";
import { numberText } from "./numbers.ts";

type Say = (parts: readonly string[]) => Phrase<string>;

/** What the service says of a field of a job, and how a person says it. */
const sayings: readonly (readonly [RegExp, Say])[] = [
  [/^is required$/, () => ({ is: "Þetta vantar.", en: "This is missing." })],
  [
    /(\d+) characters(?: long)?[:;] at most (\d+)/,
    ([chars, max]) => ({
      is: `${counted("is", Number(chars), "stafur", "stafir")}; mest ${count("is", max)} komast fyrir.`,
      en: `${count("en", chars)} characters; at most ${count("en", max)} fit.`,
    }),
  ],
  [
    /^has (\d+) keywords: at most (\d+)/,
    ([found, max]) => ({
      is: `Efnisorðin eru ${found}; mest ${max} komast fyrir.`,
      en: `There are ${found} keywords; at most ${max} fit.`,
    }),
  ],
  [
    /NUL character|surrogate/,
    () => ({
      is: "Hér er tákn sem ekki er hægt að geyma. Skrifaðu þetta aftur.",
      en: "This has a character in it that cannot be kept. Write it again.",
    }),
  ],
  [
    /has no installed model; installed: (.*)$/,
    ([installed = ""]) => ({
      is: `Ekkert líkan er uppsett fyrir þetta tungumál. Uppsett: ${languagesIn("is", installed)}.`,
      en: `There is no model for this language. Installed: ${languagesIn("en", installed)}.`,
    }),
  ],
  [
    /is no finished upload/,
    () => ({
      is: "Þjónustan geymir skrána ekki lengur. Sendu hana aftur.",
      en: "The service has the file no longer. Send it again.",
    }),
  ],
  [
    /URL that begins with https:\/\/ or http:\/\/ is needed/,
    () => ({
      is: "Slóðin þarf að byrja á https:// eða http://.",
      en: "The URL has to begin with https:// or http://.",
    }),
  ],
  [
    /without spaces, control characters and backslashes/,
    () => ({
      is: "Í slóðinni er bil eða tákn sem á þar ekki heima. Afritaðu hana aftur.",
      en: "There is a space, or a character that does not belong there. Copy the URL again.",
    }),
  ],
  [
    /host or a port that cannot be read/,
    () => ({
      is: "Þetta er ekki heil slóð. Afritaðu hana aftur.",
      en: "This is not a whole URL. Copy it again.",
    }),
  ],
  [
    /user name or password/,
    () => ({
      is: "Í slóðinni er notandanafn eða lykilorð. Taktu það úr, eða sendu skrána sjálfa.",
      en: "There is a user name or password in it. Take it out, or send the file itself.",
    }),
  ],
  [
    /^the address of the host is not public$/,
    () => ({
      is: "Slóðin er á lokuðu neti, sem þjónustan sækir ekkert á. Sendu skrána sjálfa, eða biddu rekstraraðilann að opna það.",
      en: "The URL is on a private network, where the service fetches nothing. Send the file itself, or ask the operator to allow it.",
    }),
  ],
  [
    /^has the port (\d+)/,
    ([port]) => ({
      is: `Slóðin notar gátt ${port}; þjónustan sækir aðeins um 80 og 443.`,
      en: `The URL has the port ${port}; the service fetches only from 80 and 443.`,
    }),
  ],
];

/** A violation in words of a person; the service's own, in English, where there are none. */
export function violationText({ description }: FieldViolation): Phrase<string> {
  for (const [pattern, say] of sayings) {
    const match = pattern.exec(description);
    if (match) return say(match.slice(1));
  }
  return { is: description, en: description };
}

function count(language: "is" | "en", digits: string | undefined): string {
  return numberText(language, Number(digits));
}

function languagesIn(language: "is" | "en", codes: string): string {
  const names = codes.split(", ").map((code) => languageName(language, code));
  return [...new Set(names)].join(", ");
}
