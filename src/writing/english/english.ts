import type { WritingLanguage } from "../writing-language.ts";
import { englishHouse } from "./addresses.ts";
import { englishAmount } from "./amounts.ts";
import { englishDay, englishOrdinal, englishYear } from "./calendar.ts";
import { englishClock } from "./clock.ts";
import {
  englishAbbreviation,
  englishAlways,
  englishLabel,
  englishLetters,
  englishTitle,
} from "./labels.ts";
import { englishNames } from "./names.ts";
import { englishDigits } from "./telephone.ts";
import { englishProfanity } from "./profanity.ts";
import {
  englishCommaAfter,
  englishCommaBeforeEnd,
  englishHoldsAtEnd,
  englishHoldsInPause,
  isEnglishQuestion,
} from "./sentences.ts";

/**
 * Written American English. Numbers, times and money follow the Associated Press Stylebook, with
 * the signs of metric units.
 */
export const english: WritingLanguage = {
  rules: [
    englishAbbreviation,
    englishAlways,
    englishTitle,
    englishLetters,
    englishLabel,
    englishHouse,
    englishClock,
    englishDigits,
    englishDay,
    englishOrdinal,
    englishYear,
    englishAmount,
  ],
  names: englishNames,
  isQuestion: isEnglishQuestion,
  commaAfter: englishCommaAfter,
  commaBeforeEnd: englishCommaBeforeEnd,
  holdsInPause: englishHoldsInPause,
  holdsAtEnd: englishHoldsAtEnd,
  profanity: englishProfanity,
};
