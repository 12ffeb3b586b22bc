import { givenNames } from "./given-names.ts";
import { places } from "./places.ts";

const auxiliaries = words(
  "am is are was were do does did can could will would shall should has have had may might must " +
    "isn't aren't wasn't weren't don't doesn't didn't can't couldn't won't wouldn't shouldn't " +
    "hasn't haven't",
);
const questionWords = words("who what where when why how whom whose which");
const askingShort = words("what's who's where's how's when's why's what're how'd where'd");

/** Words after "how" that make a question with it. */
const measures = words("many much long often far old big tall soon about come");

const subjects = words("i you he she it we they there this that these those anyone someone");
const determiners = words("the a an my your his her its our their any");

/** Verbs after which a determiner too is a subject: "is the train late". */
const asksWithNoun = words(
  "is are was were does did isn't aren't wasn't weren't doesn't didn't can could will would should " +
    "has have",
);

/** Words that begin a clause. */
const clauseStarts = words(
  "i you he she it we they i'm i've i'll i'd you're he's she's it's we're they're that's there's " +
    "there you'll we'll then",
);

const tag =
  /^(?:isn't|aren't|wasn't|weren't|don't|doesn't|didn't|won't|wouldn't|can't|couldn't|haven't|hasn't) (?:i|you|he|she|it|we|they)$/;

/** Returns whether a sentence asks: by its question word and verb, its first verb, or its tag. */
export function isEnglishQuestion(spoken: readonly string[], from: number, to: number): boolean {
  const first = spoken[from] ?? "";
  const second = from + 1 < to ? (spoken[from + 1] ?? "") : "";
  const third = from + 2 < to ? (spoken[from + 2] ?? "") : "";
  if (askingShort.has(first)) return true;
  if (questionWords.has(first)) return asksWithWord(first, second, third);
  if (auxiliaries.has(first) && asksWithVerb(first, second)) return true;
  return to - from > 3 && tag.test(`${spoken[to - 2]} ${spoken[to - 1]}`);
}

function asksWithWord(first: string, second: string, third: string): boolean {
  if (auxiliaries.has(second)) return true;
  if (first === "how") return measures.has(second);
  if (first === "why") return second === "not" || second === "";
  if (first === "what") return second === "" || second === "about" || auxiliaries.has(third);
  return first === "which" && auxiliaries.has(third);
}

function asksWithVerb(first: string, second: string): boolean {
  if (first === "had") return false;
  if (first === "have" || first === "do" || first === "don't") {
    return subjects.has(second) && !(first !== "have" && (second === "it" || second === "that"));
  }
  const isNoun = determiners.has(second) || givenNames.has(second) || places.has(second);
  return subjects.has(second) || (asksWithNoun.has(first) && isNoun);
}

/** Puts a comma after "yes", "no" or "well" before a clause, and before "but" with a clause. */
export function englishCommaAfter(spoken: readonly string[], at: number, from: number): boolean {
  const next = spoken[at + 1] ?? "";
  const isAnswer = ["yes", "no", "well", "okay", "yeah"].includes(spoken[at] ?? "");
  if (at === from && isAnswer) return clauseStarts.has(next);
  return next === "but" && at > from && clauseStarts.has(spoken[at + 2] ?? "");
}

/** Puts a comma before a tag: "it's cold, isn't it?" */
export function englishCommaBeforeEnd(spoken: readonly string[], at: number, to: number): boolean {
  return at === to - 3 && tag.test(`${spoken[to - 2]} ${spoken[to - 1]}`);
}

export const englishHoldsInPause: ReadonlySet<string> = words(
  "the a an and or but of to if because my your his her its our their with from at for in on by as " +
    "than that which who very so into about am is are was were",
);

export const englishHoldsAtEnd: ReadonlySet<string> = words(
  "the a an and or but because my your our their of if than",
);

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
