import { open, stat } from "node:fs/promises";
import { probeMedia, type MediaProbe } from "../../audio/probe-media.ts";
import { resampleRateMax, resampleRateMin } from "../../audio/resample.ts";
import type { Sandbox } from "../../audio/sandbox.ts";
import {
  normalizeWords,
  sourceWords,
  type Normalization,
} from "../../evaluation/normalization/normalize-words.ts";
import type { EvaluationMode, ManifestProblem } from "../../evaluation/parse-manifest.ts";
import {
  hintBoostDefault,
  hintPhrasesMax,
  phraseProblem,
} from "../../engines/protocol/check-hints.ts";
import type { Hint } from "../../engines/protocol/engine.ts";
import { chooseModel, servedLanguages } from "../../engines/pool/choose-model.ts";
import type { LoadableModel } from "../../engines/pool/loadable-models.ts";
import type { ModelChoice } from "../../models/model-choice.ts";
import { knownLanguageCode } from "../../std/language-code.ts";
import { shown } from "../../std/service-error.ts";
import { isWav, wavChunks } from "../../std/wav.ts";
import { nearestNames } from "../nearest-names.ts";
import type { SystemSettings } from "./evaluation-settings.ts";
import type { ReadRow } from "./read-manifest.ts";

/** A recording that a system can recognize. */
export interface CheckedRecording {
  /** The path as it is in the manifest. */
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly probe: MediaProbe;
  readonly languageCode: string;
  readonly mode: EvaluationMode;
  /** The name of the model that serves it. */
  readonly model: string;
  readonly silenceMs: number | undefined;
  readonly hints: readonly Hint[];
}

export interface CheckParts {
  readonly sandbox: Sandbox;
  readonly models: readonly LoadableModel[];
  readonly choice: ModelChoice;
  readonly normalization: Normalization;
  readonly recordingMsMax: number;
}

/** §8: audio of a short recognition is shorter than this. */
const shortMsMax = 30_000;
/** The number of recordings that are examined at the same time. */
const concurrency = 4;

/**
 * Checks every recording before any is recognized: its file, its text, and for each system that a
 * model serves its language in its mode. Returns the recordings of each system, in the order of the
 * rows, unless there are problems.
 */
export async function checkRecordings(
  rows: readonly ReadRow[],
  systems: readonly SystemSettings[],
  parts: CheckParts,
): Promise<{
  readonly recordings: readonly (readonly CheckedRecording[])[];
  readonly problems: readonly ManifestProblem[];
}> {
  const probes = await probeAll(rows, parts);
  const recordings = systems.map((): CheckedRecording[] => []);
  const problems = new Map<string, ManifestProblem>();
  const report = (place: string, problem: string): void => {
    // The recordings of a folder are their own places.
    const what = problem.startsWith(`${place} `) ? problem.slice(place.length + 1) : problem;
    problems.set(`${place}\n${what}`, { place, what });
  };
  reportHints(rows, report);
  const first = new Map<string, string>();
  for (const [at, row] of rows.entries()) {
    const { place, file, text, recording: name } = row;
    const key = JSON.stringify([file, row.language, row.model, row.mode]);
    const same = first.get(key);
    if (same !== undefined) report(place, `has the same recording as ${same}: remove one`);
    else first.set(key, place);
    const probe = probes[at];
    if (typeof probe === "string") report(place, probe);
    for (const [system, settings] of systems.entries()) {
      const served = servedBy(row, settings, parts);
      if (typeof served === "string") report(place, served);
      else {
        const { languageCode, mode } = served;
        const how = { normalization: parts.normalization, languageCode };
        const isEmpty = text.trim() === "";
        if (!isEmpty && normalizeWords(sourceWords(text), how).length === 0) {
          report(place, "the reference text has no words: write what is said, or remove it");
        }
        if (typeof probe !== "object") continue;
        if (mode === "short" && (probe.durationMs ?? 0) >= shortMsMax) {
          const seconds = ((probe.durationMs ?? 0) / 1000).toFixed(1);
          report(
            place,
            `${name} is ${seconds} s long: short recognition takes less than 30 s; use the mode job or live`,
          );
        }
        const hints = hintsOfRow(row, settings);
        recordings[system]?.push({ name, file, text, probe, hints, ...served });
      }
    }
  }
  return { recordings, problems: [...problems.values()] };
}

/** Reports phrases that no call would accept. */
function reportHints(
  rows: readonly ReadRow[],
  report: (place: string, what: string) => void,
): void {
  for (const { place, hints = [] } of rows) {
    if (hints.length > hintPhrasesMax) {
      report(place, `has ${hints.length} hints: at most ${hintPhrasesMax} are allowed`);
    }
    for (const phrase of hints) {
      const problem = phraseProblem(phrase);
      if (problem !== undefined) report(place, `the hint ${shown(phrase)} ${problem}`);
    }
  }
}

function hintsOfRow({ hints = [] }: ReadRow, settings: SystemSettings): readonly Hint[] {
  const boost = settings.hints ?? hintBoostDefault;
  return boost === "off" ? [] : hints.map((phrase) => ({ phrase, boost }));
}

/** Returns the model that serves a row, or why there is none. */
function servedBy(
  row: ReadRow,
  settings: SystemSettings,
  { models, choice }: CheckParts,
): string | Pick<CheckedRecording, "languageCode" | "mode" | "model" | "silenceMs"> {
  const { silenceMs, fallbackLanguage } = settings;
  const { model: name = row.model, mode = row.mode ?? "job" } = settings;
  const language = settings.language ?? row.language ?? fallbackLanguage;
  if (language === undefined) return "has no language: add the field language, or give --language";
  const codes = [...new Set(models.flatMap(({ languageCodes }) => languageCodes))];
  const languageCode = knownLanguageCode(language, codes);
  if (name === undefined) {
    const found = chooseModel(models, { languageCode, mode }, choice);
    if (found) return { languageCode, mode, model: found.name, silenceMs };
    const served = servedLanguages(models, mode, choice).join(", ") || "none";
    return `language ${JSON.stringify(language)} has no installed model for the mode ${mode}: use one of ${served}, or install a model`;
  }
  const model = models.find((each) => each.name === name);
  if (!model) {
    const names = models.map((each) => each.name);
    const near = nearestNames(name, names) || `: use one of ${names.join(", ")}`;
    return `no model ${JSON.stringify(name)} is installed${near}`;
  }
  if (model.languageCodes.includes(languageCode)) {
    return { languageCode, mode, model: name, silenceMs };
  }
  const able = model.languageCodes.join(", ") || "no language";
  return `model ${name} does not recognize ${JSON.stringify(language)}, but ${able}: use another model`;
}

/** Probes the files of all rows, each file once. A text is the reason why one cannot be used. */
async function probeAll(
  rows: readonly ReadRow[],
  parts: CheckParts,
): Promise<(MediaProbe | string)[]> {
  const known = new Map<string, Promise<MediaProbe | string>>();
  const results: (MediaProbe | string)[] = [];
  const waiting = [...rows.entries()].values();
  const work = async (): Promise<void> => {
    for (const [at, { file, recording }] of waiting) {
      const found = known.get(file) ?? probe(file, recording, parts);
      known.set(file, found);
      results[at] = await found;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

async function probe(
  file: string,
  name: string,
  { sandbox, recordingMsMax }: CheckParts,
): Promise<MediaProbe | string> {
  const found = await stat(file).catch(() => undefined);
  if (!found) return `${name} does not exist: correct the path`;
  if (!found.isFile()) return `${name} is not a file: correct the path`;
  try {
    const rate = await wavRate(file);
    if (rate !== undefined && (rate < resampleRateMin || rate > resampleRateMax)) {
      return `${name} has ${rate} samples a second: convert it to a rate from ${resampleRateMin} to ${resampleRateMax}, best 16000`;
    }
    return await probeMedia({ file, sandbox, durationMsMax: recordingMsMax });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `${name} cannot be used: ${reason}`;
  }
}

const wavStartBytes = 65_536;

/** Returns the sample rate of a WAV file; undefined for other files. */
async function wavRate(file: string): Promise<number | undefined> {
  await using opened = await open(file);
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(wavStartBytes), 0, wavStartBytes, 0);
  const start = buffer.subarray(0, bytesRead);
  if (!isWav(start)) return undefined;
  for (const { tag, body } of wavChunks(start)) {
    if (tag === "fmt " && body + 8 <= start.length) return start.readUInt32LE(body + 4);
  }
  return undefined;
}
