const types = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  WINDOW_UPDATE: 8,
} as const;
/** END_HEADERS; a body may follow. */
const endHeaders = 4;

/**
 * Returns the bytes of an HTTP/2 frame (RFC 9113, section 4.1), for frames that no library sends.
 */
export function frame(
  type: keyof typeof types,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
  flags = 0,
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(types[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/**
 * Returns the headers of a request, each as a literal that is not indexed (RFC 7541, section
 * 6.2.2).
 */
export function request(stream: number, headers: Readonly<Record<string, string>>): Buffer {
  const all = { ":scheme": "http", ":authority": "a", ...headers };
  const ordered = Object.entries(all).toSorted(
    ([a], [b]) => Number(b.startsWith(":")) - Number(a.startsWith(":")),
  );
  const fields = ordered.flatMap(([name, value]) => [
    Buffer.from([0]),
    literal(name),
    literal(value),
  ]);
  return frame("HEADERS", stream, Buffer.concat(fields), endHeaders);
}

function literal(text: string): Buffer {
  if (text.length > 126) throw new Error("longer than one byte can express");
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, "latin1")]);
}
