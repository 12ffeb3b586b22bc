import { availableParallelism } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { chooseSandbox } from "../../audio/sandbox.ts";
import { readConfig } from "../../config.ts";
import { findModels } from "../../engines/pool/loadable-models.ts";
import { hintBoostDefault } from "../../engines/protocol/check-hints.ts";
import type { Evaluation } from "../../evaluation/evaluation.ts";
import { jsonReport } from "../../evaluation/json-report.ts";
import {
  normalizations,
  type Normalization,
} from "../../evaluation/normalization/normalize-words.ts";
import type { ManifestProblem } from "../../evaluation/parse-manifest.ts";
import { compareSystems, summarizeResults } from "../../evaluation/summarize-results.ts";
import { textReport } from "../../evaluation/text-report.ts";
import { createLog } from "../../std/log.ts";
import { UsageError } from "../command.ts";
import { writeJson } from "../operator/json-option.ts";
import { Arguments, describeOptions, type OptionTable } from "../options.ts";
import { checkRecordings, type CheckedRecording } from "./check-recordings.ts";
import { EvaluationProgress } from "./evaluation-progress.ts";
import {
  hintsOf,
  modeOf,
  parseAgainst,
  silenceOf,
  type SystemSettings,
} from "./evaluation-settings.ts";
import { readManifest } from "./read-manifest.ts";
import { recognizeSystem } from "./recognize-system.ts";
import { checkHtmlFile, writeHtmlReport } from "./write-html-report.ts";

const options = {
  language: { hint: "CODE", meaning: "the language of lines without one, such as is-IS" },
  model: { hint: "NAME", meaning: "the model for all lines; default: the line's, else the best" },
  mode: {
    hint: "MODE",
    meaning: "short, live or job for all lines; default: the line's, else job",
  },
  silence: { hint: "MS", meaning: "the silence that ends an utterance; default: the service's" },
  hints: { hint: "BOOST", meaning: "the boost of the manifest's hints, or off; default: 10" },
  against: {
    hint: "SETTINGS",
    meaning: "compare with model=NAME,mode=MODE,language=CODE,silence=MS,hints=BOOST",
  },
  normalize: { hint: "RULES", meaning: normalizations.join(", "), fallback: "standard" },
  fast: { meaning: "send live audio as fast as it is recognized, not in real time: no latency" },
  parallel: { hint: "N", meaning: "recordings at the same time; default: one per core" },
  html: { hint: "FILE", meaning: "also write a page with each difference and its sound" },
  json: { meaning: "print JSON" },
  seed: { hint: "N", meaning: "the seed of the random samples", fallback: "1" },
  samples: { hint: "N", meaning: "random samples for intervals and the test", fallback: "2000" },
  help: { meaning: "show this" },
} as const satisfies OptionTable;

const usage = `Usage: hlust evaluate MANIFEST [options]

Measures the installed models on your own recordings, without a running service: word and character
error rates with intervals of 95 % confidence, the kinds of errors, speed and latency.

MANIFEST is a folder of recordings (talk.wav with talk.txt), or a TSV or JSONL file with the fields
recording, text, language, model, mode, hints; docs/evaluation.md describes it.

${describeOptions(options)}
Exits with 0 if every recording was recognized, 1 if one was not, 2 for invalid arguments or a
manifest with problems, which are listed before anything is recognized.
`;

/** Runs `hlust evaluate`. Resolves to the exit code. */
export async function evaluateManifest(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  if (args.some((each) => /^(-h|--help)$/.test(each))) {
    process.stdout.write(usage);
    return 0;
  }
  const read = await readArguments(args);
  const config = readConfig(environment);
  const { rows, problems } = await readManifest(read.manifest);
  const sandbox = await chooseSandbox(config.sandbox, createLog("fatal"));
  const recordingMsMax = 1000 * config.recordingSecondsMax;
  const checked = await checkRecordings(rows, read.systems, {
    sandbox,
    models: (await findModels(config.engine, config.modelsFolder)).models,
    choice: config.modelChoice,
    normalization: read.normalization,
    recordingMsMax,
  });
  const allProblems = [...problems, ...checked.problems];
  if (allProblems.length > 0) {
    process.stderr.write(problemText(read.manifest, allProblems));
    return 2;
  }
  const { recordings } = checked;
  const [one, other] = recordings;
  if (one && other && isDeepStrictEqual(one, other)) {
    throw new UsageError(
      "--against changes nothing: every recording has these settings already; give other ones",
      usage,
    );
  }
  const total = recordings.reduce((sum, { length }) => sum + length, 0);
  const progress = new EvaluationProgress(total, process.stderr);
  const reports = [];
  for (const [at, part] of recordings.entries()) {
    const results = await recognizeSystem(part, {
      engine: config.engine,
      modelsFolder: config.modelsFolder,
      modelKeys: config.modelKeys,
      voiceActivity: config.voiceActivity,
      onnx: config.onnx,
      sandbox,
      recordingMsMax,
      processes: read.parallel,
      isPaced: !read.isFast,
      onDone: progress.add,
    });
    reports.push(summarizeResults(labelOf(part, at, read), results, read));
  }
  progress.end();
  const [system, against] = reports;
  if (!system) throw new Error("no system was evaluated");
  const { resampling } = read;
  const evaluation: Evaluation = {
    manifest: read.manifest,
    normalization: read.normalization,
    resampling,
    system,
    ...(against && {
      against: { system: against, ...compareSystems(system, against, resampling) },
    }),
  };
  if (read.isJson) writeJson(jsonReport(evaluation));
  else process.stdout.write(textReport(evaluation));
  // The page comes last, so that its failure loses no figures.
  if (read.html !== undefined) await writeHtmlReport(read.html, evaluation, recordings[0] ?? []);
  return reports.some(({ failed }) => failed.length > 0) ? 1 : 0;
}

interface ReadArguments {
  readonly manifest: string;
  /** The settings of the system, and of the one that it is compared with. */
  readonly systems: readonly SystemSettings[];
  readonly normalization: Normalization;
  readonly resampling: { readonly seed: number; readonly samples: number };
  readonly isFast: boolean;
  readonly parallel: number;
  readonly html: string | undefined;
  readonly isJson: boolean;
}

/** Reads the arguments. Throws UsageError with the help. */
async function readArguments(args: readonly string[]): Promise<ReadArguments> {
  try {
    const read = new Arguments(options, args);
    const [manifest, ...more] = read.positionals;
    if (manifest === undefined) throw new UsageError("give a manifest: a folder or a file");
    if (more.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(more[0])}`);
    const [language, model, mode, silence, hints] = [
      read.text("language"),
      read.text("model"),
      read.text("mode"),
      read.text("silence"),
      read.text("hints"),
    ];
    const settings: SystemSettings = {
      ...(language !== undefined && { fallbackLanguage: language }),
      ...(model !== undefined && { model }),
      ...(mode !== undefined && { mode: modeOf(mode, "--mode") }),
      ...(silence !== undefined && { silenceMs: silenceOf(silence, "--silence") }),
      ...(hints !== undefined && { hints: hintsOf(hints, "--hints") }),
    };
    const against = read.text("against");
    const html = read.text("html");
    if (html !== undefined) await checkHtmlFile(html);
    return {
      manifest,
      systems:
        against === undefined ? [settings] : [settings, { ...settings, ...parseAgainst(against) }],
      normalization: read.oneOf("normalize", normalizations),
      resampling: {
        seed: read.number("seed", { min: 0, max: 2 ** 32 - 1, whole: true }),
        samples: read.number("samples", { min: 100, max: 1_000_000, whole: true }),
      },
      isFast: read.has("fast"),
      parallel:
        read.text("parallel") === undefined
          ? availableParallelism()
          : read.number("parallel", { min: 1, max: 256, whole: true }),
      html,
      isJson: read.has("json"),
    };
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usage) : error;
  }
}

/** Describes a system: its models, and the settings that differ from the default. */
function labelOf(
  recordings: readonly CheckedRecording[],
  at: number,
  { systems, isFast }: ReadArguments,
): string {
  const models = [...new Set(recordings.map(({ model }) => model))].join(" and ");
  const modes = [...new Set(recordings.map(({ mode }) => mode))];
  const { silenceMs, hints = hintBoostDefault } = systems[at] ?? {};
  // Without hints in the manifest, the setting changes nothing.
  const hasHints = hints === "off" || recordings.some((each) => each.hints.length > 0);
  return [
    models,
    ...modes.map((mode) => (mode === "live" && isFast ? "live (fast)" : mode)),
    ...(silenceMs === undefined ? [] : [`silence ${silenceMs} ms`]),
    ...(hasHints ? [hints === "off" ? "no hints" : `hints of boost ${hints}`] : []),
  ].join(", ");
}

function problemText(manifest: string, problems: readonly ManifestProblem[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const ordered = problems.toSorted((a, b) =>
    a.place.localeCompare(b.place, "en", { numeric: true }),
  );
  const lines = ordered.map(({ place, what }) => `  ${place}: ${what}\n`);
  return `hlust: ${manifest} has ${count}; nothing was recognized\n${lines.join("")}`;
}
