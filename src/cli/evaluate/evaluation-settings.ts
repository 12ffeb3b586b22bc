import { hintBoostMax } from "../../engines/protocol/check-hints.ts";
import { evaluationModes, type EvaluationMode } from "../../evaluation/parse-manifest.ts";
import { UsageError } from "../command.ts";

/** How a system recognizes. What is undefined is taken from the manifest, or is the default. */
export interface SystemSettings {
  /** The language of lines without one. */
  readonly fallbackLanguage?: string;
  /** The language of all lines. */
  readonly language?: string;
  readonly model?: string;
  readonly mode?: EvaluationMode;
  /** The length of silence that ends an utterance. */
  readonly silenceMs?: number;
  /** The boost of the manifest's hints; "off" to ignore the hints. Default: 10. */
  readonly hints?: number | "off";
}

const settingNames = ["model", "mode", "language", "silence", "hints"] as const;
/** The bounds of the silence that ends an utterance, in milliseconds. */
export const silenceMsBounds = { min: 100, max: 10_000, whole: true } as const;

/**
 * Parses the settings of a second system, such as `model=is-IS-starter,mode=live`. Throws
 * UsageError.
 */
export function parseAgainst(text: string): SystemSettings {
  const settings: { -readonly [Name in keyof SystemSettings]: SystemSettings[Name] } = {};
  const seen = new Set<string>();
  for (const entry of text.split(",")) {
    const [, name = "", value = ""] = /^([a-z]+)=(.+)$/.exec(entry.trim()) ?? [];
    if (!settingNames.some((each) => each === name)) {
      const known = settingNames.map((each) => `${each}=...`).join(", ");
      throw new UsageError(`--against must be ${known}, not ${JSON.stringify(entry)}`);
    }
    if (seen.has(name)) throw new UsageError(`--against has ${name} twice`);
    seen.add(name);
    if (name === "model") settings.model = value;
    if (name === "language") settings.language = value;
    if (name === "mode") settings.mode = modeOf(value, "--against mode");
    if (name === "hints") settings.hints = hintsOf(value, "--against hints");
    if (name === "silence") settings.silenceMs = silenceOf(value, "--against silence");
  }
  return settings;
}

/** Returns a mode. Throws UsageError, which names `what`. */
export function modeOf(text: string, what: string): EvaluationMode {
  const mode = evaluationModes.find((each) => each === text);
  if (mode !== undefined) return mode;
  throw new UsageError(
    `${what} must be ${evaluationModes.join(" or ")}, not ${JSON.stringify(text)}`,
  );
}

/** Returns the boost of hints, or "off". Throws UsageError, which names `what`. */
export function hintsOf(text: string, what: string): number | "off" {
  if (text === "off") return text;
  const boost = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (boost >= 0 && boost <= hintBoostMax) return boost;
  throw new UsageError(
    `${what} must be off, or a boost from 0 to ${hintBoostMax}, not ${JSON.stringify(text)}`,
  );
}

/** Returns a silence in milliseconds. Throws UsageError, which names `what`. */
export function silenceOf(text: string, what: string): number {
  const { min, max } = silenceMsBounds;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(
    `${what} must be a whole number of milliseconds from ${min} to ${max}, not ${JSON.stringify(text)}`,
  );
}
