import {
  checkHints,
  hintPhrasesMax,
  phraseProblem,
  type HintUse,
  type PhraseContext,
} from "../engines/protocol/check-hints.ts";
import type { Hint } from "../engines/protocol/engine.ts";
import { Violations } from "../std/service-error.ts";
import { phrasesOfPrompt } from "./phrases-of-prompt.ts";

/** What the hints of a client are for. */
export type ClientHintUse = Omit<HintUse, "ignoresUnsupported">;

/**
 * Returns phrases as hints. Those that the model cannot use are left out, since clients send them
 * to any service. Adds every violation to `field`.
 */
export function clientHints(
  contexts: readonly PhraseContext[],
  field: string,
  use: ClientHintUse,
  violations: Violations,
): readonly Hint[] {
  return checked(contexts, use, ({ description }) => violations.add(field, description));
}

/**
 * Returns keywords as hints, and the phrases of a prompt for which there is room. Adds every
 * violation of a keyword to `field`; what a prompt has besides phrases is not wrong.
 */
export function keywordHints(
  { keywords, prompt }: { readonly keywords: readonly string[]; readonly prompt: string },
  field: string,
  use: ClientHintUse,
  violations: Violations,
): readonly Hint[] {
  const given = keywords.filter((each) => each.trim() !== "");
  const known = new Set(given.map((each) => each.toLowerCase()));
  const prompted = phrasesOfPrompt(prompt)
    .filter((each) => phraseProblem(each) === undefined && !known.has(each.toLowerCase()))
    .slice(0, Math.max(0, hintPhrasesMax - given.length));
  const contexts = [{ phrases: [...given, ...prompted], boost: 0 }];
  return checked(contexts, use, ({ field: place, description }) => {
    violations.add(`${field}${place.replace("[0].phrases", "")}`, description);
  });
}

function checked(
  contexts: readonly PhraseContext[],
  use: ClientHintUse,
  add: (violation: { readonly field: string; readonly description: string }) => void,
): readonly Hint[] {
  const problems = new Violations();
  const hints = checkHints(contexts, "", { ...use, ignoresUnsupported: true }, problems);
  for (const each of problems.all) add(each);
  return hints ?? [];
}
