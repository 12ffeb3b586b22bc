import { setImmediate as turn } from "node:timers/promises";
import { type Engine, engineSampleRate, type RecognitionMode } from "../protocol/engine.ts";
import { EngineSession } from "./engine-session.ts";

/**
 * The length of the speech in seconds. A longer one would be more accurate, but would delay the
 * start.
 */
const speechSeconds = 1;
/**
 * The time for which a fast engine repeats the speech, since the JIT compiler is active at first.
 */
const measuringMsMax = 100;
const roundsMax = 20;

/**
 * Returns the CPU seconds that this engine takes for one second of live speech, from the resampler
 * to the final result. The measurement also warms up the engine and its memory.
 */
export async function measureSpeech(engine: Engine): Promise<number> {
  const cpuMs = () => engineCpuMs(engine);
  const speech = babble();
  const startMs = cpuMs();
  let leastMs = Infinity;
  for (let round = 0; round < roundsMax && cpuMs() - startMs < measuringMsMax; round++) {
    const roundMs = cpuMs();
    await recognize(engine, speech);
    leastMs = Math.min(leastMs, cpuMs() - roundMs);
  }
  return leastMs / 1000 / speechSeconds;
}

/**
 * Returns the CPU milliseconds of the thread that decodes, or of the whole process if several
 * threads decode. Work of other threads besides decoding does not delay sessions.
 */
export function engineCpuMs({ usesThreads }: Engine): number {
  const { user, system } = usesThreads ? process.cpuUsage() : process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Recognizes one second of a sound similar to speech. Throws if the engine cannot recognize. */
export async function recognizeOnce(engine: Engine, mode: RecognitionMode): Promise<void> {
  await recognize(engine, babble(), mode);
}

async function recognize(
  engine: Engine,
  speech: Int16Array,
  mode: RecognitionMode = "live",
): Promise<void> {
  const session = new EngineSession(
    engine,
    {
      languageCode: engine.languageCodes[0] ?? "",
      mode,
      sampleRateHertz: engineSampleRate,
      alternativesMax: 1,
      interim: true,
      silenceMsMin: 500,
      punctuation: true,
    },
    { interim() {}, committed() {}, progress() {}, received() {}, done() {} },
  );
  try {
    session.push(speech);
    session.endInput();
    for (let step = session.step(); step !== false; step = session.step()) {
      await (step === true ? turn() : step);
    }
  } finally {
    session.close();
  }
}

/**
 * The resonances of the vocal tract in Hz for "a", "i", "u", "e" and "æ", followed by their widths.
 */
const vowels = [
  [730, 1090, 2440],
  [270, 2290, 3010],
  [300, 870, 2240],
  [530, 1840, 2480],
  [660, 1720, 2410],
] as const;
const widths = [80, 100, 140] as const;
/**
 * At this length PocketSphinx takes as long for the sound as for speech from flite: 0.17 s of CPU
 * time per second.
 */
const syllableSeconds = 0.1;
/** The share of a syllable that the hiss before the vowel takes. */
const hissShare = 0.2;
const pitchHertz = 115;

/**
 * Generates a sound similar to speech: a pulse through the resonances of one vowel after another,
 * with hisses between them.
 */
function babble(): Int16Array {
  const resonators = widths.map(() => ({ last: 0, beforeLast: 0 }));
  const pulseSamples = Math.round(engineSampleRate / pitchHertz);
  let noise = 1;
  return Int16Array.from({ length: speechSeconds * engineSampleRate }, (_, at) => {
    const syllable = at / engineSampleRate / syllableSeconds;
    const share = syllable % 1;
    const vowel = vowels[Math.floor(syllable) ** 2 % vowels.length] ?? vowels[0];
    noise = (Math.imul(noise, 1_103_515_245) + 12_345) >>> 0;
    const isHiss = share < hissShare;
    let value = !isHiss && at % pulseSamples === 0 ? 40 : 0;
    for (const [index, resonator] of resonators.entries()) {
      const decay = Math.exp((-Math.PI * (widths[index] ?? 0)) / engineSampleRate);
      const turn = 2 * decay * Math.cos((2 * Math.PI * (vowel[index] ?? 0)) / engineSampleRate);
      const { last, beforeLast } = resonator;
      value = value * (1 - turn + decay ** 2) + turn * last - decay ** 2 * beforeLast;
      resonator.beforeLast = last;
      resonator.last = value;
    }
    const loud = isHiss ? 400 * (noise / 2 ** 31 - 1) : 400 * Math.sin(Math.PI * share) * value;
    return Math.round(Math.max(-32_768, Math.min(32_767, loud)));
  });
}
