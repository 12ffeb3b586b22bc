import type { FieldViolation } from "../api/api-error.ts";
import { count, explained, type Explained, type Explanations } from "./explained-messages.ts";

/**
 * Patterns of the service's messages about phrases of the vocabulary, and what the console shows
 * instead.
 */
export const phraseExplanations: Explanations = [
  [/^is required(?:,|$)/, () => ({ is: "Þetta vantar.", en: "This field is required." })],
  [/^at least one is required$/, () => ({ is: "Skrifaðu orð.", en: "Enter a word." })],
  [
    /^has (\d+) characters; at most (\d+)/,
    ([found, max]) => ({
      is: `Stafirnir eru ${count("is", found)}; mest ${max} komast fyrir.`,
      en: `${count("en", found)} characters; the limit is ${max}.`,
    }),
  ],
  [
    /^has (\d+) phrases; at most (\d+)/,
    ([found, max]) => ({
      is: `Línurnar eru ${count("is", found)}; mest má flytja inn ${count("is", max)} í einu.`,
      en: `${count("en", found)} lines; at most ${count("en", max)} can be imported at once.`,
    }),
  ],
  [
    /^has (\d+) texts; at most (\d+)/,
    ([found, max]) => ({
      is: `Hér eru ${found} atriði; mest ${max} komast fyrir.`,
      en: `${found} entries; the limit is ${max}.`,
    }),
  ],
  [
    /^has a control character, (U\+\w+)/,
    ([code]) => ({ is: `Hér er stýritákn, ${code}.`, en: `It has a control character, ${code}.` }),
  ],
  [
    /^has an invisible character, (U\+\w+)/,
    ([code]) => ({
      is: `Hér er ósýnilegt tákn, ${code}.`,
      en: `It has an invisible character, ${code}.`,
    }),
  ],
  [
    /^has invalid Unicode, (U\+\w+)/,
    ([code]) => ({
      is: `Hér er ógilt tákn, ${code}.`,
      en: `It has an invalid character, ${code}.`,
    }),
  ],
  [
    /^has an emoji, (U\+\w+)/,
    ([code]) => ({ is: `Hér er tjákn, ${code}.`, en: `It has an emoji, ${code}.` }),
  ],
  [
    /^has no letter or digit$/,
    () => ({ is: "Hér er hvorki bókstafur né tölustafur.", en: "It has no letter or digit." }),
  ],
  [
    /^is the same as (?:phrases|soundsLike)\[\d+\]$/,
    () => ({ is: "Þetta er þegar í listanum.", en: "It is in the list already." }),
  ],
  [
    /^is in the vocabulary already/,
    () => ({ is: "Þetta er þegar í orðaforðanum.", en: "It is in the vocabulary already." }),
  ],
  [
    /^must be (\d+) to (\d+), not/,
    ([min, max]) => ({
      is: `Þetta þarf að vera tala frá ${min} til ${max}.`,
      en: `This must be a number from ${min} to ${max}.`,
    }),
  ],
  [
    /is not a BCP 47 language code/,
    () => ({ is: "Þetta er ekki tungumálskóði.", en: "This is not a language code." }),
  ],
];

/** Returns a violation of a phrase in the console's words. */
export function phraseViolationText({
  description,
}: Pick<FieldViolation, "description">): Explained {
  return explained(description, phraseExplanations);
}
