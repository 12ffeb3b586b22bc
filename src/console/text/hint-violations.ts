import type { FieldViolation } from "../api/api-error.ts";
import { count, explained, type Explained, type Explanations } from "./explained-messages.ts";
import { phraseExplanations } from "./phrase-violations.ts";

/** Patterns of the service's messages about words to expect; some differ from those of phrases. */
export const hintExplanations: Explanations = [
  [
    /^cannot be used by the model of /,
    () => ({
      is: "Líkan þessa tungumáls tekur ekki við orðum. Tæmdu reitinn.",
      en: "The model of this language takes no words. Leave the field empty.",
    }),
  ],
  [
    /^is .*, which .* has already$/s,
    () => ({ is: "Sama orðið er hér tvisvar.", en: "The same word is here twice." }),
  ],
  [
    /^has (\d+) phrases; at most (\d+)/,
    ([found, max]) => ({
      is: `Orðin eru ${count("is", found)}; mest ${max} komast fyrir.`,
      en: `${count("en", found)} words; the limit is ${max}.`,
    }),
  ],
  [
    /^has a control character$/,
    () => ({ is: "Hér er stýritákn.", en: "It has a control character." }),
  ],
  ...phraseExplanations,
];

/** Returns a violation of words to expect in the console's words. */
export function hintViolationText({ description }: Pick<FieldViolation, "description">): Explained {
  return explained(description, hintExplanations);
}
