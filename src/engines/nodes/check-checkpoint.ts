import { resampledRate } from "../../audio/resample.ts";
import {
  checkList,
  checkWhole,
  isNumber,
  isObject,
  isOneOf,
  isText,
  type Unchecked,
} from "./unchecked.ts";

/** The maximum numbers of a decoder's state, and of a voice activity detector's. */
const stateNumbersMax = 100_000;
const activityNumbersMax = 10_000;
/** The maximum samples of an incomplete frame, and of the input that a filter still needs. */
const momentSamplesMax = resampledRate;
/**
 * The maximum samples that a cutter holds back: the silence that ends an utterance, of up to 10 s,
 * or what may be the beginning of the next one.
 */
const heldSamplesMax = 12 * resampledRate;
/** The samples that end an utterance late, and those of a chunk, are some seconds at most. */
const uncutSamplesMax = 120 * resampledRate;

/**
 * Checks a checkpoint after `samples` samples at the session's rate: another process continues from
 * it, and must neither fail nor return times of audio that was not sent. Throws an Error.
 */
export function checkCheckpoint(
  { resampler, cutter, decoder, effort, uncut, isFlushed }: Unchecked,
  samples: number,
  sampleRateHertz: number,
): void {
  const isWhole =
    isObject(resampler) &&
    isObject(cutter) &&
    isObject(decoder) &&
    isText(decoder["engine"], 1_000) &&
    isOneOf(effort, ["quick", "full"]) &&
    typeof isFlushed === "boolean";
  if (!isWhole) {
    throw new Error("a checkpoint lacks resampler, cutter, decoder, effort or isFlushed");
  }
  checkNumbers(decoder["state"], "decoder.state", stateNumbersMax);
  checkWhole(resampler["phase"], "resampler.phase", resampledRate);
  checkSamples(resampler["input"], "resampler.input", momentSamplesMax);
  checkSamples(uncut, "uncut", uncutSamplesMax);
  checkCutter(cutter, Math.ceil((samples * resampledRate) / sampleRateHertz));
}

/** `resampled`: the samples that the resampler has returned for the input. */
function checkCutter(cutter: Unchecked, resampled: number): void {
  const { detector } = cutter;
  if (detector !== undefined && !isText(detector, 1_000)) {
    throw new Error("cutter.detector is not a text");
  }
  checkNumbers(cutter["voiceActivity"], "cutter.voiceActivity", activityNumbersMax);
  checkWhole(cutter["position"], "cutter.position", resampled);
  checkSamples(cutter["frame"], "cutter.frame", momentSamplesMax);
  const held = checkSamples(cutter["held"], "cutter.held", heldSamplesMax);
  const lengths = checkList(cutter["heldLengths"], "cutter.heldLengths", heldSamplesMax);
  let sum = 0;
  for (const length of lengths) sum += checkWhole(length, "cutter.heldLengths", heldSamplesMax);
  if (sum !== held) {
    throw new Error(`the sum of cutter.heldLengths must be ${held}, as in cutter.held, not ${sum}`);
  }
}

function checkNumbers(value: unknown, name: string, countMax: number): void {
  if (checkList(value, name, countMax).every(isNumber)) return;
  throw new Error(`${name} must be numbers`);
}

/** Checks samples as text (audio/saved-samples.ts). Returns how many there are. */
function checkSamples(value: unknown, name: string, countMax: number): number {
  // Three bytes are four letters.
  const isBase64 =
    isText(value, 4 * countMax) && /^(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/.test(value);
  const bytes = isBase64 ? Buffer.byteLength(value, "base64") : NaN;
  if (bytes % 2 === 0 && bytes <= 2 * countMax) return bytes / 2;
  throw new Error(`${name} must be at most ${countMax} samples`);
}
