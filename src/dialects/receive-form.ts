import { Busboy, type BusboyFileStream, type BusboyHeaders } from "@fastify/busboy";
import { addAbortSignal, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openScratchFile, type ScratchFile } from "../describe/scratch-file.ts";
import { headerOf } from "../server/http.ts";
import { askForBody } from "../server/request-body.ts";
import { readUpload, type UploadBody } from "../server/upload-body.ts";
import { clientGone } from "../server/client-gone.ts";
import { freeMemory } from "../std/free-memory.ts";
import { ServiceError } from "../std/service-error.ts";
import type { DialectCall } from "./dialect.ts";
import { FormFields } from "./form-fields.ts";

export interface FormParts {
  /** The folder for the recording; see prepareScratchFolder(). */
  readonly scratchFolder: string;
  /** The maximum size of a recording in bytes. */
  readonly fileBytesMax: number;
}

export interface FormOptions extends FormParts {
  /** The names of the part with the recording. */
  readonly names: readonly string[];
  /** Bytes to put before the recording, for samples that lack a header. Default: none. */
  readonly header?: Uint8Array | undefined;
}

/** The recording of a form, and its fields. Disposing of it deletes the recording. */
export interface ReceivedForm extends AsyncDisposable {
  readonly fields: FormFields;
  /** The path of the recording on this machine; undefined if the form has none. */
  readonly file: string | undefined;
  /** The name of the recording as the client sent it; often wrong. */
  readonly fileName: string;
}

/** The limits of a form, apart from the recording. */
const formLimits = {
  fields: 200,
  fieldSize: 65_536,
  fieldNameSize: 200,
  parts: 210,
  headerPairs: 50,
};
/** What a form may have besides the recording: its fields, and the lines between the parts. */
const formBytesMax = 1 << 20;
/** The maximum length of a boundary, with the hyphens and the line break before it (RFC 2046). */
const boundaryBytesMax = 74;

/**
 * Receives the multipart/form-data of a request: the parts come in any order, and the recording
 * goes to a file as it arrives. Other files are ignored. Throws invalid_argument for a body of
 * another kind, and with status 413 for a recording that is too large, before it is sent if its
 * size was announced.
 */
export async function receiveForm(
  { request, response, signal }: Pick<DialectCall, "request" | "response" | "signal">,
  options: FormOptions,
): Promise<ReceivedForm> {
  const { fileBytesMax } = options;
  const contentType = headerOf(request, "content-type") ?? "";
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(contentType)) throw notForm(contentType);
  const announced = Number(headerOf(request, "content-length") ?? 0);
  if (announced > fileBytesMax + formBytesMax) throw fileTooLarge(fileBytesMax);
  askForBody(request, response);
  const headers: BusboyHeaders = { "content-type": contentType };
  const receive = async (body: UploadBody): Promise<ReceivedForm> => {
    const ending = AbortSignal.any([signal, body.signal]);
    return await readParts(body, headers, { ...options, signal: ending });
  };
  const form = await readUpload(request, {}, receive);
  if (!form) throw clientGone();
  return form;
}

async function readParts(
  { bytes, ownsChunks }: UploadBody,
  headers: BusboyHeaders,
  options: FormOptions & { readonly signal: AbortSignal },
): Promise<ReceivedForm> {
  const { names, scratchFolder, fileBytesMax, header, signal } = options;
  const entries: [string, string][] = [];
  const failed = new AbortController();
  const ending = AbortSignal.any([signal, failed.signal]);
  const parser = new Busboy({
    headers,
    limits: { ...formLimits, fileSize: fileBytesMax },
    // The parser takes the next chunk once the file has taken the one before.
    highWaterMark: 1,
    fileHwm: 1,
    // Some clients send text without a file name, but with a content type.
    isPartAFile: (_name, _type, fileName) => fileName !== undefined,
  });
  let saving: Promise<ScratchFile> | undefined;
  let savedName = "";
  let count = 0;
  parser.on("field", (name, value, _nameTruncated, isTruncated) => {
    if (isTruncated) failed.abort(fieldTooLong(name));
    else entries.push([name, value]);
  });
  for (const event of ["fieldsLimit", "partsLimit", "filesLimit"] as const) {
    parser.on(event, () => failed.abort(tooManyFields()));
  }
  parser.on(
    "file",
    (name: string | undefined, stream: BusboyFileStream, fileName: string | undefined) => {
      if (!names.includes(name ?? "")) {
        stream.resume();
        return;
      }
      count += 1;
      if (count > 1) {
        stream.resume();
        failed.abort(new ServiceError("invalid_argument", `${name}: has ${count} files; send one`));
        return;
      }
      savedName = fileName ?? "";
      // The parser does not end the part when it is ended itself: its reader would wait.
      stream.on("error", () => {});
      addAbortSignal(ending, stream);
      stream.once("limit", () => failed.abort(fileTooLarge(fileBytesMax)));
      const recording = header ? Readable.from(withHeader(header, stream)) : stream;
      saving = openScratchFile(scratchFolder, recording, {
        signal: ending,
        free: ownsChunks ? freeSlice : undefined,
      });
      // The failure is thrown when the form has been read.
      saving.catch((error: unknown) => failed.abort(error));
    },
  );
  try {
    await pipeline(bytes, parser, { signal: ending });
    const file = await saving;
    ending.throwIfAborted();
    return {
      fields: new FormFields(entries),
      file: file?.path,
      fileName: savedName,
      [Symbol.asyncDispose]: async () => await file?.[Symbol.asyncDispose](),
    };
  } catch (error) {
    failed.abort(error);
    await saving?.then((file) => file[Symbol.asyncDispose]()).catch(() => {});
    throw explained(error, failed.signal, signal);
  }
}

/**
 * Frees a chunk of the body once its part of the recording is written. The parser copies the end of
 * a chunk if it may be the start of a boundary, and passes the rest on as one slice.
 */
function freeSlice(slice: Uint8Array): void {
  freeMemory(slice, { otherBytesMax: boundaryBytesMax });
}

async function* withHeader(
  header: Uint8Array,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield header;
  yield* bytes;
}

/** Returns the first cause of a failure; the parser's own errors are those of a broken form. */
function explained(error: unknown, failed: AbortSignal, outer: AbortSignal): unknown {
  if (outer.aborted) return outer.reason;
  const cause: unknown = failed.reason ?? error;
  if (cause instanceof ServiceError) return cause;
  if (error instanceof ServiceError) return error;
  const isOfParser = cause instanceof Error && !("code" in cause);
  return isOfParser ? brokenForm(cause.message) : cause;
}

function notForm(contentType: string): ServiceError {
  const sent = contentType === "" ? "nothing" : contentType.split(";", 1)[0];
  return new ServiceError(
    "invalid_argument",
    `the body must be multipart/form-data with a boundary, not ${sent?.slice(0, 60)}`,
  );
}

function brokenForm(problem: string): ServiceError {
  return new ServiceError("invalid_argument", `the form is incomplete or malformed: ${problem}`);
}

function tooManyFields(): ServiceError {
  return new ServiceError(
    "invalid_argument",
    `the form has too many parts; at most ${formLimits.fields} are allowed`,
  );
}

function fieldTooLong(name: string): ServiceError {
  const problem = `is longer than ${formLimits.fieldSize} bytes`;
  return new ServiceError("invalid_argument", `${name.slice(0, 60)}: ${problem}`);
}

/** Returns the error for a recording that is too large. */
export function fileTooLarge(fileBytesMax: number): ServiceError {
  return new ServiceError(
    "invalid_argument",
    `the recording is larger than ${fileBytesMax} bytes, the maximum of this service`,
    { reason: "RECORDING_TOO_LARGE", httpStatus: 413 },
  );
}
