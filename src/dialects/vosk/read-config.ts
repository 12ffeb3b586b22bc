import { resampleRateMax, resampleRateMin } from "../../audio/resample.ts";
import type { Hint } from "../../engines/protocol/engine.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import { shown, Violations } from "../../std/service-error.ts";
import { clientHints } from "../client-hints.ts";

/** What a client of Vosk sets, before its audio. */
export interface VoskConfig {
  readonly sampleRateHertz: number;
  /** Whether results have words with their times. */
  readonly withWords: boolean;
  /** 0 for results without a list of alternatives. */
  readonly alternativesMax: number;
  readonly hints: readonly Hint[];
}

/** The configuration of clients that send none, which are those of telephones. */
export const voskDefaults: VoskConfig = {
  sampleRateHertz: 8_000,
  withWords: true,
  alternativesMax: 0,
  hints: [],
};

const alternativesMaxMax = 30;

/**
 * Returns the configuration after a message with `config`; what the message lacks stays. Clients
 * send numbers also as text. Throws invalid_argument with every violation.
 */
export function readVoskConfig(
  config: object,
  before: VoskConfig,
  use: { readonly recognizer: Recognizer; readonly languageCode: string },
): VoskConfig {
  const violations = new Violations();
  const value = (name: string): unknown => Reflect.get(config, name) ?? undefined;
  const number = (name: string, [min, max]: readonly [number, number], fallback: number) => {
    const given = value(name);
    if (given === undefined) return fallback;
    const read = typeof given === "string" && given.trim() === "" ? NaN : Number(given);
    if (read >= min && read <= max) return Math.round(read);
    violations.add(`config.${name}`, `must be ${min} to ${max}, not ${shown(given)}`);
    return fallback;
  };
  const rates = [resampleRateMin, resampleRateMax] as const;
  const sampleRateHertz = number("sample_rate", rates, before.sampleRateHertz);
  const counts = [0, alternativesMaxMax] as const;
  const alternativesMax = number("max_alternatives", counts, before.alternativesMax);
  const words = value("words");
  const phrases = value("phrase_list");
  const hints = phrases === undefined ? before.hints : hintsOf(phrases, use, violations);
  violations.throwIfAny();
  const withWords = words === undefined ? before.withWords : isTrue(words);
  return { sampleRateHertz, withWords, alternativesMax, hints };
}

function isTrue(value: unknown): boolean {
  return (
    value === true || value === 1 || (typeof value === "string" && /^(?:true|1)$/i.test(value))
  );
}

/** Returns the phrases as hints; "[unk]" and its like stand for all other words. */
function hintsOf(
  phrases: unknown,
  use: { readonly recognizer: Recognizer; readonly languageCode: string },
  violations: Violations,
): readonly Hint[] {
  if (!Array.isArray(phrases)) {
    violations.add("config.phrase_list", `must be a list, not ${shown(phrases)}`);
    return [];
  }
  const list = phrases.filter((each) => typeof each === "string" && !/^\s*(?:\[|$)/.test(each));
  const contexts = [{ phrases: list, boost: 0 }];
  return clientHints(contexts, "config.phrase_list", { ...use, mode: "live" }, violations);
}
