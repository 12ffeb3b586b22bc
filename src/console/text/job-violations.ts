import type { FieldViolation } from "../api/api-error.ts";
import { counted } from "./counted.ts";
import { languageName } from "./language-names.ts";
import { count, explained, type Explained, type Explanations } from "./explained-messages.ts";

/**
 * Patterns of the service's messages about violations in a job's fields, and what the console shows
 * instead.
 */
export const jobExplanations: Explanations = [
  [/^is required$/, () => ({ is: "Þetta vantar.", en: "This field is required." })],
  [
    /(\d+) characters(?: long)?[:;] at most (\d+)/,
    ([chars, max]) => ({
      is: `${counted("is", Number(chars), "stafur", "stafir")}; mest ${count("is", max)} komast fyrir.`,
      en: `${count("en", chars)} characters; the limit is ${count("en", max)}.`,
    }),
  ],
  [
    /^has (\d+) keywords[:;] at most (\d+)/,
    ([found, max]) => ({
      is: `Efnisorðin eru ${found}; mest ${max} komast fyrir.`,
      en: `${found} keywords; the limit is ${max}.`,
    }),
  ],
  [
    /NUL character|surrogate/,
    () => ({
      is: "Hér er tákn sem ekki er hægt að geyma. Skrifaðu þetta aftur.",
      en: "This contains a character that cannot be stored. Enter it again.",
    }),
  ],
  [
    /has no installed model; installed: (.*)$/,
    ([installed = ""]) => ({
      is: `Ekkert líkan er uppsett fyrir þetta tungumál. Uppsett: ${languagesIn("is", installed)}.`,
      en: `No model is installed for this language. Installed: ${languagesIn("en", installed)}.`,
    }),
  ],
  [
    /which does not serve jobs in/,
    () => ({
      is: "Líkanið skrifar ekki upp þetta tungumál. Veldu annað líkan.",
      en: "The model does not transcribe this language. Choose another model.",
    }),
  ],
  [
    /no diarization model is installed/,
    () => ({
      is: "Ekkert líkan er uppsett sem greinir mælendur í sundur.",
      en: "No model that distinguishes speakers is installed.",
    }),
  ],
  [
    /is (no|not a) finished upload/,
    () => ({
      is: "Þjónustan geymir skrána ekki lengur. Sendu hana aftur.",
      en: "The service no longer has the file. Send it again.",
    }),
  ],
  [
    /must begin with https:\/\/ or http:\/\//,
    () => ({
      is: "Slóðin þarf að byrja á https:// eða http://.",
      en: "The URL must begin with https:// or http://.",
    }),
  ],
  [
    /spaces, control characters and backslashes are not allowed/,
    () => ({
      is: "Í slóðinni er bil eða tákn sem á þar ekki heima. Afritaðu hana aftur.",
      en: "The URL contains a space or an invalid character. Copy it again.",
    }),
  ],
  [
    /invalid host or port/,
    () => ({
      is: "Þetta er ekki heil slóð. Afritaðu hana aftur.",
      en: "This is not a complete URL. Copy it again.",
    }),
  ],
  [
    /user name or password/,
    () => ({
      is: "Í slóðinni er notandanafn eða lykilorð. Taktu það úr, eða sendu skrána sjálfa.",
      en: "The URL contains a user name or password. Remove it, or send the file itself.",
    }),
  ],
  [
    /^the address of the host is not public$/,
    () => ({
      is: "Slóðin er á lokuðu neti, sem þjónustan sækir ekkert á. Sendu skrána sjálfa, eða biddu rekstraraðilann að opna það.",
      en: "The URL is on a private network, which the service does not download from. Send the file itself, or ask the operator to allow it.",
    }),
  ],
  [
    /^has the port (\d+)/,
    ([port]) => ({
      is: `Slóðin notar gátt ${port}; þjónustan sækir aðeins um 80 og 443.`,
      en: `The URL uses port ${port}; the service downloads only from ports 80 and 443.`,
    }),
  ],
];

/** Returns a violation in a job's fields in the console's words. */
export function jobViolationText({ description }: FieldViolation): Explained {
  return explained(description, jobExplanations);
}

function languagesIn(language: "is" | "en", codes: string): string {
  const names = codes.split(", ").map((code) => languageName(code)[language]);
  return [...new Set(names)].join(", ");
}
