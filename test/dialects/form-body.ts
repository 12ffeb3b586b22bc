import { randomUUID } from "node:crypto";

/** A part of a form, exactly as a client sends it. */
export interface FormPart {
  readonly name: string;
  readonly value: string | Uint8Array;
  /** Set for a file. */
  readonly fileName?: string;
  readonly type?: string;
}

/** Writes multipart/form-data byte by byte, for bodies that FormData does not write. */
export function formBody(parts: readonly FormPart[]): {
  readonly body: Buffer<ArrayBuffer>;
  readonly contentType: string;
} {
  const boundary = `----${randomUUID()}`;
  const chunks = parts.flatMap(({ name, value, fileName, type }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    fileName === undefined ? "" : `; filename="${fileName}"`,
    type === undefined ? "" : `\r\nContent-Type: ${type}`,
    "\r\n\r\n",
    value,
    "\r\n",
  ]);
  const all = [...chunks, `--${boundary}--\r\n`].map((chunk) => Buffer.from(chunk));
  return {
    body: Buffer.concat(all),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}
