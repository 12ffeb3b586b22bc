import type { Language } from "./language.tsx";
import { numberText } from "./numbers.ts";

/**
 * Returns a number with its noun: "1 uppskrift", "21 uppskrift", "1.284 uppskriftir". In Icelandic
 * the last digit decides, except in numbers that end in 11.
 */
export function counted(language: Language, count: number, one: string, many: string): string {
  return `${numberText(language, count)} ${isOne(language, count) ? one : many}`;
}

/**
 * Returns whether a number takes the singular: 1, and in Icelandic also 21 and 101, but not 11.
 */
export function isOne(language: Language, count: number): boolean {
  return language === "is" ? count % 10 === 1 && count % 100 !== 11 : count === 1;
}
