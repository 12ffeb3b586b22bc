import { resampleRateMax, resampleRateMin } from "../../audio/resample.ts";
import { hintBoostMax, type PhraseContext } from "../../engines/protocol/check-hints.ts";
import type { Hint } from "../../engines/protocol/engine.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import { shown, Violations } from "../../std/service-error.ts";
import { clientHints } from "../client-hints.ts";
import { languageOf } from "../language-of.ts";

/** What a telephone server asks for. */
export interface JambonzStart {
  readonly languageCode: string;
  readonly sampleRateHertz: number;
  readonly interim: boolean;
  readonly hints: readonly Hint[];
}

export interface StartContext {
  readonly recognizer: Recognizer;
  readonly defaultLanguage: string | undefined;
}

/** Reads the start. Throws invalid_argument with every violation. */
export function readStart(
  start: object,
  pathLanguage: string,
  { recognizer, defaultLanguage }: StartContext,
): JambonzStart {
  const violations = new Violations();
  const value = (name: string): unknown => memberOf(start, name);
  const encoding = value("encoding") ?? "LINEAR16";
  if (encoding !== "LINEAR16") {
    violations.add("encoding", `must be LINEAR16, not ${shown(encoding)}`);
  }
  const rate = value("sampleRateHz") ?? 8_000;
  const [min, max] = [resampleRateMin, resampleRateMax];
  if (typeof rate !== "number" || !Number.isInteger(rate) || rate < min || rate > max) {
    violations.add("sampleRateHz", `must be ${min} to ${max}, not ${shown(rate)}`);
  }
  const named = value("language");
  const language = typeof named === "string" && named !== "" ? named : pathLanguage;
  const choice = { recognizer, mode: "live", defaultLanguage } as const;
  const languageCode = languageOf(language, "language", choice, violations);
  const contexts = contextsIn(value("options"), violations);
  const use = { recognizer, languageCode, mode: "live" } as const;
  const hints = clientHints(contexts, "options.hints", use, violations);
  violations.throwIfAny();
  const interim = value("interimResults") === true;
  return { languageCode, sampleRateHertz: Number(rate), interim, hints };
}

/**
 * Returns the hints of the application: phrases, which share `hintsBoost`, or objects with a phrase
 * and a boost of their own.
 */
function contextsIn(options: unknown, violations: Violations): PhraseContext[] {
  const hints = memberOf(options, "hints") ?? [];
  const shared = boostOf(memberOf(options, "hintsBoost"));
  if (!Array.isArray(hints)) {
    violations.add("options.hints", `must be a list of phrases, not ${shown(hints)}`);
    return [];
  }
  return hints.flatMap((hint: unknown) => {
    const phrase = typeof hint === "string" ? hint : memberOf(hint, "phrase");
    if (typeof phrase !== "string" || phrase.trim() === "") return [];
    return [{ phrases: [phrase], boost: boostOf(memberOf(hint, "boost")) || shared }];
  });
}

/** Returns the nearest boost that the models know; 0, the default, without one. */
function boostOf(boost: unknown): number {
  return typeof boost === "number" ? Math.min(hintBoostMax, Math.max(0, boost)) : 0;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Reflect.get(value, name) ?? undefined;
}
