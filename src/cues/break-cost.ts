import type { Atom } from "./atoms.ts";
import { isUnspaced } from "./unspaced.ts";

/**
 * Returns the cost of a break between two atoms: 0 at the end of a sentence, 60 if nothing favors a
 * break.
 */
export function breakCost(before: Atom, after: Atom): number {
  if (!after.spaced) return isUnspaced(before.text + after.text) ? costs.plain : costs.withinWord;
  if (endsSentence(before, after)) return costs.sentence;
  if (pauseMs(before, after) >= 400) return costs.pause;
  if (/[,;:،、，；：–—]["'”’»)\]]*$/u.test(before.text)) return costs.clause;
  const word = bareWord(before.text);
  if (conjunctions.has(word) || leaning.has(word)) return costs.leaning;
  if (conjunctions.has(bareWord(after.text))) return costs.conjunction;
  return costs.plain;
}

const costs = {
  sentence: 0,
  pause: 10,
  clause: 20,
  conjunction: 35,
  plain: 60,
  /** The cost of a break after a word that belongs to the next one. */
  leaning: 90,
  withinWord: 300,
} as const;

/** Returns the cost of not breaking between two atoms. */
export function joinCost(before: Atom, after: Atom): number {
  const sentence = endsSentence(before, after) ? 12 : 0;
  return sentence + Math.min(100, Math.max(0, pauseMs(before, after) - 400) / 10);
}

function pauseMs(before: Atom, after: Atom): number {
  return after.startMs - before.endMs;
}

/**
 * Whether an atom ends a sentence. A period before a lowercase letter belongs to an abbreviation.
 */
function endsSentence(before: Atom, after: Atom): boolean {
  return (
    /[.!?…。！？؟।]["'”’»)\]」』]*$/u.test(before.text) && !/^["'„“«([]*\p{Ll}/u.test(after.text)
  );
}

function bareWord(text: string): string {
  return text.toLowerCase().replace(/^["'„“«([]+/, "");
}

/** Words that begin a clause, in Icelandic and English. */
const conjunctions = new Set(
  (
    "og en eða ef sem að því þegar svo þó nema heldur hvort meðan enda þótt " +
    "and but or nor so yet that which who because if when while although though since unless where"
  ).split(" "),
);

/** Words that belong to the next one: articles, prepositions, pronouns. */
const leaning = new Set(
  (
    "í á um til frá við með af úr hjá eftir fyrir undir yfir milli sé er ég þú hann hún það þeir þær þau " +
    "a an the of to in on at by for with from into my your his her its our their is i you he she it we they"
  ).split(" "),
);
