/** The version of the protocol that is spoken, which clients ignore. */
const version = "1.8.0";

/**
 * Writes an event. Its data follows the line, since clients in Python read lines of at most 64 KiB.
 * The length counts bytes of UTF-8.
 */
export function writeEvent(type: string, data: object = {}): Buffer {
  const bytes = Buffer.from(JSON.stringify(data));
  const isEmpty = Object.keys(data).length === 0;
  const header = { type, version, ...(!isEmpty && { data_length: bytes.length }) };
  const line = Buffer.from(`${JSON.stringify(header)}\n`);
  return isEmpty ? line : Buffer.concat([line, bytes]);
}
