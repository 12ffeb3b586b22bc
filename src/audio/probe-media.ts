import { open } from "node:fs/promises";
import { ServiceError } from "../std/service-error.ts";
import type { Sandbox } from "./sandbox.ts";

/** What a file of media says of itself. */
export interface MediaFacts {
  /** Of the first audio stream; undefined: not known before it is decoded. */
  readonly durationMs: number | undefined;
  /** The container declares the duration: less audio than that means that the rest is missing. */
  readonly isDeclared: boolean;
  /** VIDEO when moving pictures are among its streams; the picture on a cover does not move. */
  readonly fileType: "AUDIO" | "VIDEO";
}

export interface ReadMediaOptions {
  /** Absolute path. */
  readonly file: string;
  readonly sandbox: Sandbox;
  readonly signal?: AbortSignal | undefined;
  /** Longer recordings are refused. */
  readonly durationMsMax: number;
  /** Nobody waits for it: it takes the CPU that others leave. */
  readonly isPatient?: boolean | undefined;
}

/** Demuxers of recordings, by ffmpeg's names; playlists, images, scripts and devices are not among them. */
const formats =
  "wav,w64,aiff,caf,au,flac,wv,voc,mp3,aac,loas,ac3,eac3,amr,ogg,matroska,webm,mov,mp4,m4a,3gp,avi,asf,flv,mpeg,mpegts,mxf";

/** How every program opens the file: nothing but this file, as nothing but a recording. */
export const inputParameters: readonly string[] = (
  `-hide_banner -max_alloc 268435456 -protocol_whitelist file -format_whitelist ${formats} ` +
  "-max_streams 64 -probesize 5000000 -analyzeduration 10000000"
).split(" ");

const cpuSecondsMax = 60;

/** Throws ServiceError when the file is not a recording, has no audio or is too long. */
export async function probeMedia(options: ReadMediaOptions): Promise<MediaFacts> {
  const { start, sizeBytes } = await readStart(options.file);
  const foreign = describeForeign(start);
  if (foreign !== undefined) throw notMedia(foreign);
  checkWavSize(start, sizeBytes);
  await using run = await options.sandbox.start({
    program: "ffprobe",
    parameters: (file) => [
      ..."-v warning -of json -show_entries".split(" "),
      "format=duration:stream=codec_type,duration:stream_disposition=attached_pic:stream_tags=DURATION",
      ...inputParameters,
      `file:${file}`,
    ],
    file: options.file,
    cpuSecondsMax,
    isPatient: options.isPatient,
    signal: options.signal,
  });
  const output = await textOf(run.stdout as AsyncIterable<Buffer>);
  const { status, complaints } = await run.ended;
  options.signal?.throwIfAborted();
  if (status !== 0) throw explainComplaints(complaints);
  const { streams, format } = parseProbe(output);
  const audio = streams.find(({ isAudio }) => isAudio);
  if (!audio) {
    throw new ServiceError("invalid_argument", "the media has no audio stream", {
      reason: "MEDIA_NO_AUDIO",
    });
  }
  const declaredMs = audio.durationMs ?? format.durationMs;
  const isDeclared =
    declaredMs !== undefined && !complaints.includes("Estimating duration from bitrate");
  const durationMs = isDeclared ? declaredMs : await measure(options);
  if (durationMs !== undefined) checkDuration(durationMs, options.durationMsMax);
  const fileType = streams.some(({ isVideo }) => isVideo) ? "VIDEO" : "AUDIO";
  return { durationMs, isDeclared, fileType };
}

/** Reads the packets of a recording that does not say how long it is. */
async function measure(options: ReadMediaOptions): Promise<number | undefined> {
  const { file, sandbox, signal, isPatient } = options;
  await using run = await sandbox.start({
    program: "ffmpeg",
    parameters: (path) => [
      ..."-nostdin -v error -progress pipe:1 -stats_period 3600".split(" "),
      ...inputParameters,
      "-i",
      `file:${path}`,
      ..."-map 0:a:0 -c copy -f null -".split(" "),
    ],
    file,
    cpuSecondsMax,
    isPatient,
    signal,
  });
  const output = await textOf(run.stdout as AsyncIterable<Buffer>);
  const last = Array.from(output.matchAll(/^out_time_us=(\d+)$/gm)).at(-1);
  return last ? Math.round(Number(last[1]) / 1000) || undefined : undefined;
}

/** Throws when a recording is longer than what is taken. */
export function checkDuration(durationMs: number, durationMsMax: number): void {
  if (durationMs <= durationMsMax) return;
  const minutes = Math.floor(durationMsMax / 60_000);
  throw new ServiceError(
    "out_of_range",
    `the recording is longer than ${minutes} minutes, the most that is taken`,
    { reason: "MEDIA_TOO_LONG" },
  );
}

/** What ffmpeg or ffprobe complained about when it could not read the file at all, in a person's words. */
export function explainComplaints(complaints: string): ServiceError {
  if (/moov atom not found|partial file|End of file|EOF|truncat/i.test(complaints)) {
    return new ServiceError(
      "data_loss",
      "the media is cut short: the part that says how to read it is missing",
      { reason: "MEDIA_TRUNCATED" },
    );
  }
  if (/not on whitelist/i.test(complaints))
    return notMedia("not a recording of a kind that is taken");
  if (/stream limit|max_streams/i.test(complaints))
    return notMedia("a recording of more than 64 streams, which is not taken");
  return notMedia("not a recording that can be read");
}

function notMedia(what: string): ServiceError {
  return new ServiceError("invalid_argument", `the media is ${what}`, { reason: "MEDIA_INVALID" });
}

/** Names what is often sent by mistake, from its first bytes; undefined for anything else. */
function describeForeign(start: Buffer): string | undefined {
  if (start.length === 0) return "empty: 0 bytes";
  const text = start.toString("latin1").replace(/^\u00ef\u00bb\u00bf/, "");
  const found = foreign.find(([mark]) =>
    typeof mark === "string" ? text.startsWith(mark) : mark.test(text),
  );
  return found && `${found[1]}, not a recording`;
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

async function readStart(path: string): Promise<{ start: Buffer; sizeBytes: number }> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(4096), position: 0 });
  return { start: buffer.subarray(0, bytesRead), sizeBytes: (await file.stat()).size };
}

/** Sizes from here on stand for "not known yet": what writes to a pipe cannot go back and fill it in. */
const wavSizeUnknown = 0x7fff_0000;

/** ffmpeg takes a WAV file as long as it is; its header tells whether that is all. */
function checkWavSize(start: Buffer, sizeBytes: number): void {
  if (start.toString("latin1", 0, 4) !== "RIFF" || start.toString("latin1", 8, 12) !== "WAVE")
    return;
  for (let at = 12; at + 8 <= start.length;) {
    const chunkBytes = start.readUInt32LE(at + 4);
    if (start.toString("latin1", at, at + 4) === "data") {
      const missing = at + 8 + chunkBytes - sizeBytes;
      if (chunkBytes < wavSizeUnknown && missing > 1) throw truncated(chunkBytes, missing);
      return;
    }
    at += 8 + chunkBytes + (chunkBytes % 2);
  }
}

function truncated(bytes: number, missing: number): ServiceError {
  return new ServiceError(
    "data_loss",
    `the media is cut short: it says that it has ${bytes} bytes of audio, ${missing} of them are missing`,
    { reason: "MEDIA_TRUNCATED" },
  );
}

interface ProbedStream {
  readonly isAudio: boolean;
  readonly isVideo: boolean;
  readonly durationMs: number | undefined;
}

interface Probe {
  readonly streams: readonly ProbedStream[];
  readonly format: { readonly durationMs: number | undefined };
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
    format: { durationMs: msOfSeconds(field(field(json, "format"), "duration")) },
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

/** Matroska's way: 00:01:02.345000000 */
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
