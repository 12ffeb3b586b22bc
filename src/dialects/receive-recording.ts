import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { pcmSampleBytes, type PcmEncoding } from "../audio/pcm-samples.ts";
import { openScratchFile } from "../describe/scratch-file.ts";
import { clientGone } from "../server/client-gone.ts";
import { headerOf } from "../server/http.ts";
import { askForBody } from "../server/request-body.ts";
import { readUpload, type UploadBody } from "../server/upload-body.ts";
import { freeMemory } from "../std/free-memory.ts";
import { ServiceError } from "../std/service-error.ts";
import type { DialectCall } from "./dialect.ts";
import { fileTooLarge, type FormParts } from "./receive-form.ts";

/** Samples without a header. */
export interface HeadlessSamples {
  readonly encoding: PcmEncoding;
  readonly sampleRateHertz: number;
  readonly channels: 1 | 2;
}

/** The recording of a body. Disposing of it deletes the recording. */
export interface ReceivedRecording extends AsyncDisposable {
  readonly file: string;
  /** The hash of the body in hexadecimal digits. */
  readonly sha256: string;
}

/**
 * Receives a recording that is the whole body of a request, in a file. Samples get the header of a
 * WAV file unless they have one. Throws invalid_argument without a body, and with status 413 for a
 * recording that is too large, before it is sent if its size was announced.
 */
export async function receiveRecording(
  { request, response, signal }: Pick<DialectCall, "request" | "response" | "signal">,
  {
    scratchFolder,
    fileBytesMax,
    samples,
  }: FormParts & { readonly samples?: HeadlessSamples | undefined },
): Promise<ReceivedRecording> {
  const announced = Number(headerOf(request, "content-length") ?? 0);
  if (announced > fileBytesMax) throw fileTooLarge(fileBytesMax);
  askForBody(request, response);
  const receive = async (body: UploadBody): Promise<ReceivedRecording> => {
    const digest = createHash("sha256");
    let size = 0;
    const count = (chunk: Uint8Array): void => {
      size += chunk.length;
      if (size > fileBytesMax) throw fileTooLarge(fileBytesMax);
      digest.update(chunk);
    };
    let hasHeader = false;
    const headed = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      let head = Buffer.alloc(0);
      let isBegun = samples === undefined;
      for await (const chunk of body.bytes) {
        count(chunk);
        if (isBegun) {
          yield chunk;
          continue;
        }
        head = Buffer.concat([head, chunk]);
        if (head.length < 4) continue;
        isBegun = true;
        hasHeader = head.toString("latin1", 0, 4) !== "RIFF";
        if (hasHeader && samples) yield headerOfSamples(samples, 0);
        yield head;
      }
    };
    const ending = AbortSignal.any([signal, body.signal]);
    const bytes = Readable.from(headed(), { objectMode: false, highWaterMark: 1 });
    const file = await openScratchFile(scratchFolder, bytes, {
      signal: ending,
      free: body.ownsChunks ? freeMemory : undefined,
    });
    if (size === 0) {
      await file[Symbol.asyncDispose]();
      throw new ServiceError("invalid_argument", "the body is empty: it must be a recording");
    }
    if (hasHeader && samples) await completeHeader(file.path, samples, size);
    return {
      file: file.path,
      sha256: digest.digest("hex"),
      [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
    };
  };
  const recording = await readUpload(request, {}, receive);
  if (!recording) throw clientGone();
  return recording;
}

const formats: Readonly<Record<PcmEncoding, number>> = {
  u8: 1,
  s16: 1,
  s24: 1,
  s32: 1,
  f32: 3,
  alaw: 6,
  mulaw: 7,
};

/** Returns the header of a WAV file. */
function headerOfSamples(
  { encoding, sampleRateHertz, channels }: HeadlessSamples,
  dataBytes: number,
): Buffer {
  const frameBytes = pcmSampleBytes[encoding] * channels;
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(formats[encoding], 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRateHertz, 24);
  header.writeUInt32LE(sampleRateHertz * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(pcmSampleBytes[encoding] * 8, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** Writes the number of whole samples into the header before them. */
async function completeHeader(path: string, samples: HeadlessSamples, size: number): Promise<void> {
  const frameBytes = pcmSampleBytes[samples.encoding] * samples.channels;
  const header = headerOfSamples(samples, size - (size % frameBytes));
  await using file = await open(path, "r+");
  await file.write(header, 0, header.length, 0);
}
