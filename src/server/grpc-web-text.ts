import { ServiceError } from "../std/service-error.ts";
import type { HttpRequest } from "./http.ts";

const textType = /^application\/grpc-web-text(?=[+;]|$)/i;

/**
 * Presents a request in the text mode of gRPC-Web, in which bodies are base64 in both directions,
 * as binary gRPC-Web: the library does not know the text mode. Returns the Content-Type of the
 * response, or undefined if the request is not in text mode.
 */
export function presentAsBinary(request: HttpRequest): string | undefined {
  const type = request.headers["content-type"] ?? "";
  if (!textType.test(type)) return undefined;
  const { "content-length": _length, ...headers } = request.headers;
  headers["content-type"] = type.replace(textType, "application/grpc-web");
  Object.defineProperty(request, "headers", { value: headers });
  return type;
}

/** Encodes each part with its own padding, so that no part waits for the next one. */
export async function* encodeText(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) yield Buffer.from(Buffer.from(part).toString("base64"));
}

/**
 * Decodes base64 that may have padding within it, at the ends of the parts that the client encoded.
 * Throws invalid_argument for other bytes.
 */
export async function* decodeText(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  let rest = "";
  for await (const chunk of chunks) {
    const text = rest + Buffer.from(chunk).toString("latin1");
    const end = text.length - (text.length % 4);
    rest = text.slice(end);
    if (end > 0) yield bytesOf(text.slice(0, end));
  }
  if (rest !== "") throw notBase64();
}

function bytesOf(text: string): Uint8Array {
  if (!/^[A-Za-z\d+/=]*$/.test(text)) throw notBase64();
  const parts = text.match(/[^=]+=*/g) ?? [];
  if (!parts.every((part) => part.length % 4 === 0)) throw notBase64();
  return Buffer.concat(parts.map((part) => Buffer.from(part, "base64")));
}

function notBase64(): ServiceError {
  return new ServiceError("invalid_argument", "the body of gRPC-Web in text mode is not base64", {
    reason: "MALFORMED_BASE64",
  });
}
