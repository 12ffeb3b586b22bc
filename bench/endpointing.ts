// `npm run bench:endpointing [quick]` compares detectors of voice activity: by the energy over the
// noise floor, and by a network. Synthetic voices and the recordings of ../shared/audio, if there
// are any, are mixed with noises, music and other voices, made soft, clipped, or sent through a
// telephone. For each condition it prints what share of speech is missed and of silence is found
// to be speech, how far the ends of utterances are off, and the CPU time. Then it recognizes some
// of the talks live with each detector: what counts in the end is the word error rate. `quick` uses
// a third of the sentences.
import { join } from "node:path";
import { EnergyVoiceActivity } from "../src/audio/energy-voice-activity.ts";
import { NetworkVoiceActivity } from "../src/audio/network-voice-activity.ts";
import type { VoiceActivity } from "../src/audio/voice-activity.ts";
import { openPocketsphinx } from "../src/engines/pocketsphinx/pocketsphinx-engine.ts";
import { percent } from "../src/evaluation/format-figures.ts";
import { type RecordingScore, totalWordErrors } from "../src/evaluation/score-recording.ts";
import { openStarter } from "../test/fixtures/open-starter.ts";
import { allConditions, type Condition } from "./endpointing/conditions.ts";
import { addCounts, type Counts, noCounts, score } from "./endpointing/score.ts";
import { talksOf } from "./endpointing/talk.ts";
import { recognizeTalk } from "./endpointing/words.ts";
import { report, reportMachine } from "./report.ts";

const detectors = { energy: EnergyVoiceActivity, network: NetworkVoiceActivity } as const;
type Detector = keyof typeof detectors;
const names: readonly Detector[] = ["energy", "network"];

/** The limits for the network; those with a ratio compare it with energy. */
const limits = {
  missedRatio: 0.5,
  lostPercent: 1,
  falsePercent: 1,
  speechCpuMs: 8,
  idleCpuMs: 0.5,
  noisyWordsRatio: 0.85,
  quietWordsRatio: 1.1,
} as const;
/** Other voices are speech; their figures are printed, and have no limit. */
const otherVoices = "babble";
/** PocketSphinx takes a tenth of real time or more, so it recognizes speech in these only. */
const sphinxConditions = new Set([
  "quiet room",
  "white 10 dB",
  "hum 5 dB",
  "keyboard 10 dB",
  "-50 dBFS",
]);

const isQuick = process.argv[2] === "quick";
const talks = talksOf(join(import.meta.dirname, "../../shared/audio"), isQuick);
const conditions = allConditions();
reportMachine();
for (const { name, spans, samples } of talks) {
  console.log(
    `${name.padEnd(12)} ${spans.length} utterances in ${(samples.length / 16_000).toFixed(0)} s`,
  );
}
const counted = countAll();
const words = await countWords();
reportFigures();

/** Prints the counts of each condition, and returns them for each detector. */
function countAll(): Map<Detector, Map<Condition, Counts>> {
  console.log(
    "\ncondition        by        missed  lost  false  /min  start p50, p95    end p50, p95     CPU ms/s",
  );
  const counts = new Map(names.map((name) => [name, new Map<Condition, Counts>()]));
  for (const condition of conditions) {
    for (const name of names) {
      const sum = noCounts();
      for (const talk of talks)
        score(sum, talk, condition.apply(talk.samples), new detectors[name]());
      counts.get(name)?.set(condition, sum);
      console.log(`${condition.name.padEnd(16)} ${name.padEnd(8)} ${figuresOf(sum)}`);
    }
  }
  for (const name of names) {
    const all = addCounts([...(counts.get(name)?.values() ?? [])]);
    console.log(`${"all".padEnd(16)} ${name.padEnd(8)} ${figuresOf(all)}`);
  }
  return counts;
}

function figuresOf(counts: Counts): string {
  const minutes = counts.silenceFrames / 6000;
  return [
    percent(counts.missedFrames / counts.speechFrames).padStart(6),
    percent(counts.lostUtterances / counts.utterances).padStart(5),
    percent(counts.falseFrames / counts.silenceFrames).padStart(6),
    (counts.falseUtterances / minutes).toFixed(1).padStart(5),
    errorsOf(counts.startErrorsMs),
    errorsOf(counts.endErrorsMs),
    (counts.cpuMs / counts.seconds).toFixed(2).padStart(6),
  ].join("  ");
}

function errorsOf(errorsMs: readonly number[]): string {
  return [0.5, 0.95].map((share) => String(quantile(errorsMs, share)).padStart(7)).join("");
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN);
}

type WordCounts = RecordingScore["words"];

/**
 * Recognizes the Icelandic talk in all conditions, and the English ones in some. Prints and returns
 * the errors of each detector.
 */
async function countWords(): Promise<Map<Detector, Map<Condition, WordCounts[]>>> {
  const [english, icelandic] = [await openPocketsphinx(), await openStarter("streaming")];
  console.log(`\nword error rate, live     ${talks.map(({ name }) => name.padStart(22)).join("")}`);
  const errors = new Map(names.map((name) => [name, new Map<Condition, WordCounts[]>()]));
  for (const condition of conditions) {
    for (const name of names) {
      const found: WordCounts[] = [];
      const cells: string[] = [];
      for (const talk of talks) {
        const isIcelandic = talk.languageCode === "is-IS";
        if (!isIcelandic && !sphinxConditions.has(condition.name)) {
          cells.push("-".padStart(22));
          continue;
        }
        const samples = condition.apply(talk.samples);
        const create = (): VoiceActivity => new detectors[name]();
        const count = await recognizeTalk(isIcelandic ? icelandic : english, create, talk, samples);
        found.push(count);
        const { insertions, length } = count;
        cells.push(`${percent(count.errors / length)} (${insertions} inserted)`.padStart(22));
      }
      errors.get(name)?.set(condition, found);
      console.log(`${condition.name.padEnd(16)} ${name.padEnd(8)}${cells.join("")}`);
    }
  }
  english.close();
  icelandic.close();
  return errors;
}

function wordErrorRate(name: Detector, isMeant: (condition: Condition) => boolean): number {
  const counts = [...(words.get(name) ?? [])]
    .filter(([condition]) => isMeant(condition))
    .flatMap(([, each]) => each);
  const { errors, length } = totalWordErrors(counts);
  return errors / length;
}

function reportFigures(): void {
  const of = (name: Detector, isMeant: (condition: Condition) => boolean) =>
    addCounts(
      [...(counted.get(name) ?? [])].filter(([each]) => isMeant(each)).map(([, each]) => each),
    );
  const isAlone = ({ group }: Condition) => group !== otherVoices;
  const [energy, network] = [of("energy", isAlone), of("network", isAlone)];
  const missed = (counts: Counts) => counts.missedFrames / counts.speechFrames;
  const isQuiet = ({ group }: Condition) => group === "quiet room";
  const isNoisy = (condition: Condition) => isAlone(condition) && !isQuiet(condition);
  const rates = [isNoisy, isQuiet].map((isMeant) => ({
    energy: wordErrorRate("energy", isMeant),
    network: wordErrorRate("network", isMeant),
  }));
  const [noisy = { energy: NaN, network: NaN }, calm = noisy] = rates;
  console.log("\nwithout other voices, the network against energy:");
  const speechCpu = network.cpuMs / network.seconds;
  report([
    {
      name: "missed speech",
      ratio: missed(network) / missed(energy),
      ratioMax: limits.missedRatio,
      note: `${percent(missed(network))} % against ${percent(missed(energy))} %`,
    },
    {
      name: "lost utterances",
      ratio: (100 * network.lostUtterances) / network.utterances,
      ratioMax: limits.lostPercent,
      unit: "%",
      note: `energy ${percent(energy.lostUtterances / energy.utterances)} %`,
    },
    {
      name: "false speech",
      ratio: (100 * network.falseFrames) / network.silenceFrames,
      ratioMax: limits.falsePercent,
      unit: "%",
      note: `energy ${percent(energy.falseFrames / energy.silenceFrames)} %`,
    },
    {
      name: "CPU in these conditions",
      ratio: speechCpu,
      ratioMax: limits.speechCpuMs,
      unit: "ms/s",
      note: `energy ${(energy.cpuMs / energy.seconds).toFixed(2)} ms`,
    },
    {
      name: "CPU in steady noise and silence",
      ratio: idleCpuMs(),
      ratioMax: limits.idleCpuMs,
      unit: "ms/s",
      note: "white noise without speech, and digital silence",
    },
    {
      name: "word error rate in noise",
      ratio: noisy.network / noisy.energy,
      ratioMax: limits.noisyWordsRatio,
      note: `${percent(noisy.network)} % against ${percent(noisy.energy)} %`,
    },
    {
      name: "word error rate in a quiet room",
      ratio: calm.network / calm.energy,
      ratioMax: limits.quietWordsRatio,
      note: `${percent(calm.network)} % against ${percent(calm.energy)} %`,
    },
  ]);
}

/** Returns the CPU time of the network's detector for a second without speech. */
function idleCpuMs(): number {
  const seconds = 60;
  const white = conditions.find(({ name }) => name === "white 20 dB");
  const noise = white?.apply(new Float64Array(seconds * 16_000)) ?? new Int16Array(0);
  const frames = [noise, new Int16Array(noise.length)];
  const before = process.cpuUsage();
  for (const samples of frames) {
    const activity = new NetworkVoiceActivity();
    for (let at = 0; at < samples.length; at += activity.frameSamples) {
      activity.isSpeech(samples.subarray(at, at + activity.frameSamples));
    }
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / (frames.length * seconds);
}
