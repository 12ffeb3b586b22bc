import { open } from "node:fs/promises";
import { ServiceError } from "../std/service-error.ts";
import { examineMp4 } from "./examine-mp4.ts";
import { formatParameters, inputParameters } from "./media-input.ts";
import { findPlainWav, type PlainWav } from "./plain-wav.ts";
import type { Sandbox } from "./sandbox.ts";
import { isWav, wavChunks } from "../std/wav.ts";

/** The properties of a media file. */
export interface MediaProbe {
  /**
   * The duration of the first audio stream; undefined if it is unknown until the stream is decoded.
   */
  readonly durationMs: number | undefined;
  /**
   * Whether the container declares the duration; if it does, a file with less audio is truncated.
   */
  readonly isDeclared: boolean;
  /** VIDEO if the file has a video stream; cover art does not count. */
  readonly fileType: "AUDIO" | "VIDEO";
  /** Set if the file is decoded in this process. */
  readonly plainWav?: PlainWav | undefined;
  /** Parameters that ffmpeg needs to recognize the format. */
  readonly formatParameters?: readonly string[] | undefined;
}

export interface ReadMediaOptions {
  /** The absolute path of the file. */
  readonly file: string;
  readonly sandbox: Sandbox;
  readonly signal?: AbortSignal | undefined;
  /** The maximum duration. Longer recordings are rejected. */
  readonly durationMsMax: number;
  /** Whether to run at the lowest priority, because nothing waits for the result. */
  readonly isLowPriority?: boolean | undefined;
}

/**
 * The limits of CPU time. On a slow machine, reading all packets of a recording of several hours
 * takes this long; reading only its headers takes a fraction of a second.
 */
const cpuSecondsMax = { probe: 20, measure: 60 } as const;

/**
 * Reads the properties of a media file. Throws ServiceError if it is not a recording, has no audio
 * or is too long.
 */
export async function probeMedia(options: ReadMediaOptions): Promise<MediaProbe> {
  const { start, sizeBytes, format, refusal, plainWav } = await readStart(options.file);
  if (start.length === 0) throw notMedia("empty: 0 bytes");
  const foreign = describeForeign(start);
  if (foreign !== undefined) throw notMedia(`${foreign}, not a recording`);
  checkWavSize(start, sizeBytes);
  if (plainWav) return factsOfWav(plainWav, options.durationMsMax);
  if (refusal !== undefined) throw notMedia(refusal);
  await using run = await options.sandbox.start({
    program: "ffprobe",
    parameters: (file) => [
      ..."-v warning -of json -show_entries".split(" "),
      "format=format_name,start_time,duration:stream=codec_type,duration:stream_disposition=attached_pic:stream_tags=DURATION",
      ...inputParameters,
      ...format,
      `file:${file}`,
    ],
    file: options.file,
    cpuSecondsMax: cpuSecondsMax.probe,
    isLowPriority: options.isLowPriority,
    signal: options.signal,
  });
  const output = await textOf(run.stdout as AsyncIterable<Buffer>);
  const { status, complaints } = await run.ended;
  options.signal?.throwIfAborted();
  if (status !== 0) throw explainEnd(status, complaints);
  const { streams, container } = parseProbe(output);
  const audio = streams.find(({ isAudio }) => isAudio);
  if (!audio) {
    throw new ServiceError("invalid_argument", "the media has no audio stream", {
      reason: "MEDIA_NO_AUDIO",
    });
  }
  const declaredMs = declaredDuration(audio, container);
  const isGuess = complaints.includes("Estimating duration from bitrate");
  const durationMs = isGuess ? undefined : declaredMs;
  const lengthMs = durationMs ?? (await measure(options, format));
  if (lengthMs !== undefined) checkDuration(lengthMs, options.durationMsMax);
  const fileType = streams.some(({ isVideo }) => isVideo) ? "VIDEO" : "AUDIO";
  const isDeclared = durationMs !== undefined && !container.isDurationOfContent;
  return { durationMs: lengthMs, isDeclared, fileType, formatParameters: format };
}

/**
 * Returns the declared duration of the audio. If a container has end times, its clock need not
 * begin at 0, so the start is subtracted.
 */
function declaredDuration(audio: ProbedStream, container: Container): number | undefined {
  const probedMs = audio.durationMs ?? container.durationMs;
  if (probedMs === undefined || !container.hasEndTimes) return probedMs;
  return probedMs > container.startMs ? probedMs - container.startMs : undefined;
}

/**
 * Returns the result of probeMedia() for a file that this process decodes itself, or undefined for
 * any other file. Throws MEDIA_TOO_LONG.
 */
export async function probePlainWav(
  path: string,
  durationMsMax: number,
): Promise<MediaProbe | undefined> {
  const { plainWav } = await readStart(path);
  return plainWav && factsOfWav(plainWav, durationMsMax);
}

/** Measures the duration of a recording that does not declare it, from its packets. */
async function measure(
  options: ReadMediaOptions,
  format: readonly string[],
): Promise<number | undefined> {
  const { file, sandbox, signal, isLowPriority } = options;
  await using run = await sandbox.start({
    program: "ffmpeg",
    parameters: (path) => [
      ..."-nostdin -v error -progress pipe:1 -stats_period 3600".split(" "),
      ...inputParameters,
      ...format,
      "-i",
      `file:${path}`,
      ..."-map 0:a:0 -c copy -f null -".split(" "),
    ],
    file,
    cpuSecondsMax: cpuSecondsMax.measure,
    isLowPriority,
    signal,
  });
  const output = await textOf(run.stdout as AsyncIterable<Buffer>);
  const last = Array.from(output.matchAll(/^out_time_us=(\d+)$/gm)).at(-1);
  return last ? Math.round(Number(last[1]) / 1000) || undefined : undefined;
}

/** Throws if a recording is too long. */
export function checkDuration(durationMs: number, durationMsMax: number): void {
  if (durationMs <= durationMsMax) return;
  const isWhole = durationMsMax % 60_000 === 0;
  const most = isWhole ? `${durationMsMax / 60_000} minutes` : `${durationMsMax / 1000} seconds`;
  throw new ServiceError(
    "out_of_range",
    `the recording is longer than ${most}, which is the maximum`,
    { reason: "MEDIA_TOO_LONG" },
  );
}

/** Explains to users why ffmpeg or ffprobe could not read the file. */
export function explainEnd(status: number, complaints: string): ServiceError {
  if (status >= killedStatus) return notMedia("too costly to decode: its decoder was stopped");
  if (/moov atom not found|partial file|End of file|EOF|truncat/i.test(complaints)) {
    return new ServiceError(
      "data_loss",
      "the media is cut short: the part that describes its format is missing",
      { reason: "MEDIA_TRUNCATED" },
    );
  }
  if (/not on whitelist/i.test(complaints)) return notMedia("not a recording of a supported kind");
  if (/stream limit|max_streams/i.test(complaints))
    return notMedia("a recording of more than 64 streams, which is not supported");
  return notMedia("not a recording that can be read");
}

/**
 * Exit statuses from this value upward mean a signal: a limit of time or memory was exceeded, or
 * the decoder crashed.
 */
export const killedStatus = 128;

function notMedia(what: string): ServiceError {
  return new ServiceError("invalid_argument", `the media is ${what}`, { reason: "MEDIA_INVALID" });
}

/**
 * Names the kind of a file that is often sent by mistake, from its first bytes. Returns undefined
 * for other files.
 */
export function describeForeign(start: Buffer): string | undefined {
  const text = start.toString("latin1").replace(/^\u00ef\u00bb\u00bf/, "");
  const found = foreign.find(([mark]) =>
    typeof mark === "string" ? text.startsWith(mark) : mark.test(text),
  );
  return found?.[1];
}

const foreign: readonly (readonly [string | RegExp, string])[] = [
  [/^\s*<(!doctype html|html|head|body)/i, "a web page (HTML)"],
  [
    /^\s*(#EXTM3U|ffconcat |\[playlist\])|^<[^]*<(MPD|playlist|SmoothStreamingMedia)\b/i,
    "a playlist",
  ],
  [/^\s*<(\?xml|[a-z!])/i, "an XML document"],
  [/^\s*[{[]\s*["{[\]}]/, "a JSON document"],
  ["%PDF-", "a PDF document"],
  ["PK\x03\x04", "a ZIP archive"],
  ["\x1f\x8b", "compressed (gzip)"],
  ["\x89PNG", "an image"],
  ["\xff\xd8\xff", "an image"],
  ["GIF8", "an image"],
];

async function readStart(path: string) {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(4096), position: 0 });
  const start = buffer.subarray(0, bytesRead);
  const { size: sizeBytes } = await file.stat();
  const plainWav = await findPlainWav(file, start, sizeBytes);
  const format = plainWav ? [] : await formatParameters(file);
  const refusal = plainWav ? undefined : await examineMp4(file, sizeBytes);
  return { start, sizeBytes, format, refusal, plainWav };
}

function factsOfWav(plainWav: PlainWav, durationMsMax: number): MediaProbe {
  const durationMs = Math.round((plainWav.frames * 1000) / plainWav.sampleRateHertz);
  checkDuration(durationMs, durationMsMax);
  return { durationMs, isDeclared: true, fileType: "AUDIO", plainWav };
}

/**
 * Sizes from this value upward mean "unknown": a program that writes to a pipe cannot go back to
 * fill in the size.
 */
const wavSizeUnknown = 0x7fff_0000;

/**
 * Throws if the header of a WAV file shows that data is missing, since ffmpeg accepts a truncated
 * WAV file.
 */
function checkWavSize(start: Buffer, sizeBytes: number): void {
  if (!isWav(start)) return;
  const data = wavChunks(start).find(({ tag }) => tag === "data");
  if (!data || data.size >= wavSizeUnknown) return;
  const missing = data.body + data.size - sizeBytes;
  if (missing > 1) throw truncated(data.size, missing);
}

function truncated(bytes: number, missing: number): ServiceError {
  return new ServiceError(
    "data_loss",
    `the media is cut short: ${missing} of its ${bytes} bytes of audio are missing`,
    { reason: "MEDIA_TRUNCATED" },
  );
}

interface ProbedStream {
  readonly isAudio: boolean;
  readonly isVideo: boolean;
  readonly durationMs: number | undefined;
}

interface Container {
  readonly durationMs: number | undefined;
  readonly startMs: number;
  /** Whether the durations are the times at which the streams end. */
  readonly hasEndTimes: boolean;
  /**
   * Whether the durations are measured from the content, so that they do not reveal missing
   * content.
   */
  readonly isDurationOfContent: boolean;
}

interface Probe {
  readonly streams: readonly ProbedStream[];
  readonly container: Container;
}

function parseProbe(output: string): Probe {
  const json: unknown = JSON.parse(output);
  const streams = field(json, "streams");
  return {
    streams: (Array.isArray(streams) ? streams : []).map((stream: unknown) => ({
      isAudio: field(stream, "codec_type") === "audio",
      isVideo:
        field(stream, "codec_type") === "video" &&
        field(field(stream, "disposition"), "attached_pic") !== 1,
      durationMs:
        msOfSeconds(field(stream, "duration")) ??
        msOfClock(field(field(stream, "tags"), "DURATION")),
    })),
    container: containerOf(field(json, "format")),
  };
}

function containerOf(format: unknown): Container {
  const found = field(format, "format_name");
  const name = typeof found === "string" ? found : "";
  return {
    durationMs: msOfSeconds(field(format, "duration")),
    startMs: msOfSeconds(field(format, "start_time")) ?? 0,
    hasEndTimes: name === "ogg" || name.startsWith("matroska"),
    isDurationOfContent: name === "ogg" || name.startsWith("mpeg"),
  };
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function msOfSeconds(value: unknown): number | undefined {
  const ms = typeof value === "string" ? Math.round(Number(value) * 1000) : Number.NaN;
  return ms > 0 ? ms : undefined;
}

/** Parses a duration in Matroska's format: 00:01:02.345000000 */
function msOfClock(value: unknown): number | undefined {
  const parts = typeof value === "string" ? /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(value) : null;
  if (!parts) return undefined;
  const ms = Math.round(
    (Number(parts[1]) * 3600 + Number(parts[2]) * 60 + Number(parts[3])) * 1000,
  );
  return ms > 0 ? ms : undefined;
}

const outputCharsMax = 1 << 20;

async function textOf(stdout: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdout) {
    bytes += chunk.length;
    if (bytes > outputCharsMax) throw notMedia("not a recording that can be read");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
