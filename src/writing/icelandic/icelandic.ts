import type { WritingLanguage } from "../writing-language.ts";
import { icelandicAmount } from "./amounts.ts";
import { icelandicOrdinal, icelandicYear } from "./calendar.ts";
import { icelandicClock } from "./clock.ts";
import { icelandicAbbreviation, icelandicLabel } from "./labels.ts";
import { icelandicNames } from "./names.ts";
import { icelandicProfanity } from "./profanity.ts";
import {
  icelandicCommaAfter,
  icelandicCommaBeforeEnd,
  icelandicHoldsAtEnd,
  icelandicHoldsInPause,
  isIcelandicQuestion,
} from "./sentences.ts";
import { icelandicDigits } from "./telephone.ts";

/**
 * Written Icelandic. Numbers, signs and capitals follow "Íslenskar ritreglur" (the spelling rules
 * of Íslensk málnefnd); small numbers stay words, as style guides advise for running text.
 */
export const icelandic: WritingLanguage = {
  rules: [
    icelandicAbbreviation,
    icelandicLabel,
    icelandicClock,
    icelandicDigits,
    icelandicOrdinal,
    icelandicYear,
    icelandicAmount,
  ],
  names: icelandicNames,
  isQuestion: isIcelandicQuestion,
  commaAfter: icelandicCommaAfter,
  commaBeforeEnd: icelandicCommaBeforeEnd,
  holdsInPause: icelandicHoldsInPause,
  holdsAtEnd: icelandicHoldsAtEnd,
  profanity: icelandicProfanity,
};
