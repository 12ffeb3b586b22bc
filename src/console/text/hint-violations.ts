import type { FieldViolation } from "../api/api-error.ts";
import type { Phrase } from "./language.tsx";
import { numberText } from "./numbers.ts";
import { phraseViolationText } from "./phrase-violations.ts";

/** Patterns of the service's messages about words to expect that differ from those of phrases. */
const explanations: readonly (readonly [RegExp, (parts: readonly string[]) => Phrase<string>])[] = [
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
      is: `Orðin eru ${numberText("is", Number(found))}; mest ${max} komast fyrir.`,
      en: `${numberText("en", Number(found))} words; the limit is ${max}.`,
    }),
  ],
  [
    /^has a control character$/,
    () => ({ is: "Hér er stýritákn.", en: "It has a control character." }),
  ],
];

/** Returns a violation of words to expect in the console's words. */
export function hintViolationText({
  description,
}: Pick<FieldViolation, "description">): Phrase<string> {
  for (const [pattern, explain] of explanations) {
    const match = pattern.exec(description);
    if (match) return explain(match.slice(1));
  }
  return phraseViolationText({ description });
}
