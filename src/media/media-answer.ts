import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { ServiceError } from "../std/service-error.ts";
import { declaredDigest, type DeclaredDigest } from "./declared-digest.ts";

/** The facts about the media in the headers of a response. */
export interface MediaAnswer {
  /** The target of a redirect. */
  readonly location: string | undefined;
  /** A strong validator for If-Range: the ETag, or the date if there is no ETag. */
  readonly validator: string | undefined;
  /** The size of the whole media, if declared. */
  readonly bytes: number | undefined;
  /** The position of the first byte of this response, if the response is partial. */
  readonly rangeFrom: number | undefined;
  readonly digest: DeclaredDigest | undefined;
}

/**
 * Reads the headers of a response. Throws unless the response is a redirect or contains unencoded
 * bytes. `isPart`: part of the media was requested.
 */
export function readAnswer(
  status: number,
  headers: IncomingHttpHeaders,
  isPart: boolean,
): MediaAnswer {
  const header = (name: string): string | undefined => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
  const location = [301, 302, 303, 307, 308].includes(status) ? header("location") : undefined;
  if (location === undefined) checkAnswer(status, header, isPart);
  const range = status === 206 ? rangeOf(header) : undefined;
  const length = status === 206 ? range?.[2] : header("content-length");
  return {
    location: location === undefined ? undefined : inUtf8(location),
    validator: validatorOf(header),
    bytes: length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined,
    rangeFrom: range && Number(range[1]),
    digest: status === 206 ? undefined : declaredDigest(header),
  };
}

/**
 * Decodes a header as UTF-8. Headers are read as Latin-1, but servers that do not escape their URLs
 * send UTF-8, and browsers decode it as such.
 */
function inUtf8(header: string): string {
  const bytes = Buffer.from(header, "latin1");
  return isUtf8(bytes) ? bytes.toString() : header;
}

type Header = (name: string) => string | undefined;

function checkAnswer(status: number, header: Header, isPart: boolean): void {
  if (status !== 200 && !(status === 206 && isPart)) {
    throw new StatusError(status, retryAfterMs(header));
  }
  const encoding = header("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity") throw encoded("Content-Encoding");
  const transfer = header("transfer-encoding") ?? "chunked";
  if (transfer.trim().toLowerCase() !== "chunked") throw encoded("Transfer-Encoding");
}

function encoded(field: string): ServiceError {
  return new ServiceError(
    "failed_precondition",
    `the server of the media sent compressed data (${field}), which is not accepted`,
    { reason: "MEDIA_ENCODED" },
  );
}

/** Matches a single part of the media with a known end. */
function rangeOf(header: Header): RegExpExecArray | undefined {
  if (/^multipart\//i.test(header("content-type") ?? "")) return undefined;
  return /^bytes (\d+)-\d+\/(\d+)$/.exec(header("content-range") ?? "") ?? undefined;
}

/**
 * Returns a strong validator (RFC 9110, sections 13.1.5 and 8.8.2.2). A date is strong if it is at
 * least a second old, and is used only if there is no ETag.
 */
function validatorOf(header: Header): string | undefined {
  const etag = header("etag");
  if (etag !== undefined) return /^"[^"]*"$/.test(etag) ? etag : undefined;
  const modified = header("last-modified") ?? "";
  const isStrong = Date.parse(header("date") ?? "") - Date.parse(modified) >= 1000;
  return isStrong ? modified : undefined;
}

/** Returns whether a part belongs to the same media as the earlier bytes with `validator`. */
export function isSameMedia(validator: string | undefined, part: MediaAnswer): boolean {
  if (validator === undefined) return false;
  const mayBeLeftOut = !validator.startsWith('"');
  return part.validator === validator || (mayBeLeftOut && part.validator === undefined);
}

function retryAfterMs(header: Header): number | undefined {
  const text = header("retry-after");
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

/** The error for a response without media. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: number;
  /** The delay that the server requests. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, retryAfterMs: number | undefined) {
    super(`status ${status}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
