import { ServiceError } from "../std/service-error.ts";
import { decodeWav } from "./decode-wav.ts";
import {
  checkDuration,
  explainEnd,
  killedStatus,
  probeMedia,
  type MediaProbe,
  type ReadMediaOptions,
} from "./probe-media.ts";
import { inputParameters } from "./media-input.ts";
import { readTimedSamples, timedFormat } from "./timed-samples.ts";

export interface DecodeOptions extends ReadMediaOptions {
  /** The result of probeMedia(), if it is already known. */
  readonly facts?: MediaProbe;
  /** The share of frames that may be damaged inside. Default: that of ffmpeg, two thirds. */
  readonly errorShareMax?: number;
  /** Called with every byte of a file that is decoded without a sandbox. */
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined;
}

/** The sample rate of decodeAudio(). */
export const decodedSampleRate = 16_000;

/**
 * A recording may be this much shorter than its container declares, because of padding and of
 * streams with different lengths.
 */
const shortfallMsMax = 500;
const shortfallShareMax = 0.02;

/**
 * Decodes the first audio stream of a media file to 16-bit samples at decodedSampleRate, one
 * channel, from the start of the media. Gaps in its times become silence. Samples are decoded as
 * they are pulled, and are never all in memory. Leaving the loop ends the decoder. Throws
 * ServiceError: MEDIA_INVALID, MEDIA_NO_AUDIO, MEDIA_TRUNCATED, MEDIA_TOO_LONG.
 */
export async function* decodeAudio(
  options: DecodeOptions,
): AsyncGenerator<Int16Array, void, undefined> {
  const { sandbox, file, signal, durationMsMax, isLowPriority, errorShareMax } = options;
  const facts = options.facts ?? (await probeMedia(options));
  if (facts.plainWav) {
    yield* decodeWav(file, facts.plainWav, { signal, onBytes: options.onBytes });
    return;
  }
  await using run = await sandbox.start({
    program: "ffmpeg",
    parameters: (path) => [
      ..."-nostdin -v warning -threads 1".split(" "),
      ...(errorShareMax === undefined ? [] : ["-max_error_rate", `${errorShareMax}`]),
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
    isLowPriority,
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
    throw new ServiceError("invalid_argument", "the media is empty: it has 0 s of audio", {
      reason: "MEDIA_INVALID",
    });
  }
}

function checkWhole(durationMs: number, { durationMs: declaredMs, isDeclared }: MediaProbe): void {
  if (declaredMs === undefined || !isDeclared) return;
  const missingMs = declaredMs - durationMs;
  if (missingMs <= Math.max(shortfallMsMax, declaredMs * shortfallShareMax)) return;
  const [has, declared] = [durationMs, declaredMs].map((ms) => (ms / 1000).toFixed(1));
  throw new ServiceError(
    "data_loss",
    `the media is cut short: it declares ${declared} s of audio and has ${has} s`,
    { reason: "MEDIA_TRUNCATED" },
  );
}

function broken(): ServiceError {
  return new ServiceError("data_loss", "the media is damaged: its audio cannot be decoded", {
    reason: "MEDIA_INVALID",
  });
}
