import { ServiceError } from "../std/service-error.ts";
import { decodeWav } from "./decode-wav.ts";
import {
  checkDuration,
  explainEnd,
  killedStatus,
  probeMedia,
  type MediaFacts,
  type ReadMediaOptions,
} from "./probe-media.ts";
import { inputParameters } from "./media-input.ts";
import { readTimedSamples, timedFormat } from "./timed-samples.ts";

export interface DecodeOptions extends ReadMediaOptions {
  /** What probeMedia() answered for the file, when it was asked already. */
  readonly facts?: MediaFacts;
  /** Given every byte of a file that is decoded without a sandbox. */
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined;
}

/** Samples per second of what decodeAudio() yields. */
export const decodedSampleRate = 16_000;

/**
 * A recording may be this much shorter than its container says: padding, and ends of streams that
 * differ.
 */
const shortfallMsMax = 500;
const shortfallShareMax = 0.02;

/**
 * The first audio stream of a file of media as 16-bit samples at decodedSampleRate, one channel,
 * from the start of the media: gaps in its times are silence. Pulled as they are taken, never whole
 * in memory. Leaving the loop ends the decoder. Throws ServiceError: MEDIA_INVALID, MEDIA_NO_AUDIO,
 * MEDIA_TRUNCATED, MEDIA_TOO_LONG.
 */
export async function* decodeAudio(
  options: DecodeOptions,
): AsyncGenerator<Int16Array, void, undefined> {
  const { sandbox, file, signal, durationMsMax, isPatient } = options;
  const facts = options.facts ?? (await probeMedia(options));
  if (facts.plainWav) {
    yield* decodeWav(file, facts.plainWav, { signal, onBytes: options.onBytes });
    return;
  }
  await using run = await sandbox.start({
    program: "ffmpeg",
    parameters: (path) => [
      ..."-nostdin -v warning -threads 1".split(" "),
      ...inputParameters,
      ...(facts.formatParameters ?? []),
      "-i",
      `file:${path}`,
      ..."-map 0:a:0 -vn -sn -dn -map_metadata -1 -af atrim=start=0".split(" "),
      ..."-ac 1 -c:a pcm_s16le -ar".split(" "),
      `${decodedSampleRate}`,
      "-f",
      timedFormat,
      "pipe:1",
    ],
    file,
    cpuSecondsMax: 60 + (durationMsMax / 1000) * 0.5,
    isPatient,
    signal,
  });
  let samples = 0;
  const written = run.stdout as AsyncIterable<Buffer>;
  for await (const chunk of readTimedSamples(written, decodedSampleRate)) {
    samples += chunk.length;
    checkDuration((samples * 1000) / decodedSampleRate, durationMsMax);
    yield chunk;
  }
  const { status, complaints } = await run.ended;
  signal?.throwIfAborted();
  if (status >= killedStatus) throw explainEnd(status, complaints);
  const durationMs = (samples * 1000) / decodedSampleRate;
  checkWhole(durationMs, facts);
  if (status !== 0) throw samples === 0 ? explainEnd(status, complaints) : broken();
  if (samples === 0) {
    throw new ServiceError("invalid_argument", "the media is empty: it holds 0 s of audio", {
      reason: "MEDIA_INVALID",
    });
  }
}

function checkWhole(durationMs: number, { durationMs: declaredMs, isDeclared }: MediaFacts): void {
  if (declaredMs === undefined || !isDeclared) return;
  const missingMs = declaredMs - durationMs;
  if (missingMs <= Math.max(shortfallMsMax, declaredMs * shortfallShareMax)) return;
  const [has, says] = [durationMs, declaredMs].map((ms) => (ms / 1000).toFixed(1));
  throw new ServiceError(
    "data_loss",
    `the media is cut short: it says that it has ${says} s of audio, ${has} s of it are there`,
    { reason: "MEDIA_TRUNCATED" },
  );
}

function broken(): ServiceError {
  return new ServiceError("data_loss", "the media is damaged: its audio cannot be decoded", {
    reason: "MEDIA_INVALID",
  });
}
