import { ServiceError, shown } from "../std/service-error.ts";

/** The version of the protocol (https://tus.io/protocols/resumable-upload). */
export const tusVersion = "1.0.0";
/** The extensions that the service implements. */
export const tusExtensions = "creation,creation-with-upload,expiration,termination";
/** The content type of a body with bytes of an upload. */
const partType = "application/offset+octet-stream";
/** The maximum length of Upload-Metadata. */
const metadataCharsMax = 4_096;

/** Returns one header of a request, by its name in lower case. */
export type ReadHeader = (name: string) => string | undefined;

/** A request that creates an upload. */
export interface Creation {
  /** The size of the whole media, from 1 to the maximum. */
  readonly sizeBytes: number;
  /** Upload-Metadata as sent; "" if there is none. */
  readonly metadata: string;
  readonly filename: string;
  /** The resource that receives the media, transcripts/<id>; "" for a job. */
  readonly resourceName: string;
}

/**
 * Reads the headers of a POST. Throws invalid_argument, or PAYLOAD_TOO_LARGE for a size over
 * `bytesMax`.
 */
export function readCreation(header: ReadHeader, bytesMax: number): Creation {
  if (header("upload-concat") !== undefined) throw notSupported("Upload-Concat", "concatenation");
  if (header("upload-defer-length") !== undefined) {
    throw notSupported("Upload-Defer-Length", "creation-defer-length");
  }
  const sizeBytes = readCount("Upload-Length", header);
  if (sizeBytes === 0) throw invalid("UPLOAD_LENGTH_INVALID", "Upload-Length must be at least 1");
  if (sizeBytes > bytesMax) {
    throw new ServiceError(
      "invalid_argument",
      `Upload-Length is ${sizeBytes}: the media can have at most ${bytesMax} bytes`,
      {
        reason: "PAYLOAD_TOO_LARGE",
        httpStatus: 413,
        metadata: { bytesMax: `${bytesMax}` },
      },
    );
  }
  const metadata = header("upload-metadata") ?? "";
  const values = readMetadata(metadata);
  return {
    sizeBytes,
    metadata,
    filename: textOf(values, "filename"),
    resourceName: textOf(values, "resourceName"),
  };
}

/** Reads Upload-Offset, which counts the bytes before those of a PATCH. */
export function readOffset(header: ReadHeader): number {
  return readCount("Upload-Offset", header);
}

/** Throws UNSUPPORTED_MEDIA_TYPE unless the body has bytes of an upload. */
export function checkPartType(header: ReadHeader): void {
  const type = header("content-type");
  if (type?.split(";", 1)[0]?.trim().toLowerCase() === partType) return;
  const found = type === undefined ? "there is none" : `not ${shown(type)}`;
  throw new ServiceError("invalid_argument", `Content-Type must be ${partType}, ${found}`, {
    reason: "UNSUPPORTED_MEDIA_TYPE",
    httpStatus: 415,
  });
}

/**
 * Throws for headers that ask for a check or a coding that the service does not perform, since the
 * media would otherwise be stored without it.
 */
export function refuseUnchecked(header: ReadHeader): void {
  if (header("upload-checksum") !== undefined) throw notSupported("Upload-Checksum", "checksum");
  const coding = header("content-encoding") ?? "identity";
  if (coding.trim().toLowerCase() === "identity") return;
  throw new ServiceError(
    "invalid_argument",
    `Content-Encoding ${shown(coding)} is not accepted: send the bytes of the media`,
    { reason: "UNSUPPORTED_MEDIA_TYPE", httpStatus: 415 },
  );
}

/**
 * Returns the values of Upload-Metadata by key: pairs of a key and a value in Base64, separated by
 * commas; the value may be omitted. Throws invalid_argument for any other form.
 */
export function readMetadata(text: string): ReadonlyMap<string, Buffer> {
  if (text.length > metadataCharsMax) {
    throw badMetadata(`has ${text.length} characters; at most ${metadataCharsMax} are allowed`);
  }
  const values = new Map<string, Buffer>();
  if (text.trim() === "") return values;
  for (const pair of text.split(",")) {
    const [key = "", value = "", ...rest] = pair.trim().split(/ +/);
    if (!/^[!-+\--~]+$/.test(key) || rest.length > 0) {
      throw badMetadata(`has the pair ${shown(pair)}: a key, a space and Base64 are expected`);
    }
    if (values.has(key)) throw badMetadata(`has the key ${shown(key)} twice`);
    if (!/^(?:[\w+/-]{4})*(?:[\w+/-]{2,3}={0,2})?$/.test(value)) {
      throw badMetadata(`has a value of ${shown(key)} that is not Base64: ${shown(value)}`);
    }
    values.set(key, Buffer.from(value, "base64"));
  }
  return values;
}

function textOf(values: ReadonlyMap<string, Buffer>, key: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(values.get(key));
  } catch {
    throw badMetadata(`has a value of ${shown(key)} that is not UTF-8`);
  }
}

/** Reads a whole number of bytes. Throws if the header is missing or has another form. */
function readCount(name: "Upload-Length" | "Upload-Offset", header: ReadHeader): number {
  const value = header(name.toLowerCase());
  const reason = name === "Upload-Length" ? "UPLOAD_LENGTH_INVALID" : "UPLOAD_OFFSET_INVALID";
  if (value === undefined) throw invalid(reason, `the header ${name} is required`);
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw invalid(reason, `${name} must be a number of bytes, not ${shown(value)}`);
}

function notSupported(name: string, extension: string): ServiceError {
  return invalid(
    "TUS_EXTENSION_NOT_SUPPORTED",
    `${name} belongs to the extension ${extension}, which the service does not have: it has ${tusExtensions}`,
  );
}

function badMetadata(description: string): ServiceError {
  return invalid("UPLOAD_METADATA_INVALID", `Upload-Metadata ${description}`);
}

function invalid(reason: string, message: string): ServiceError {
  return new ServiceError("invalid_argument", message, { reason });
}
