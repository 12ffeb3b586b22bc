import { randomFillSync } from "node:crypto";

/**
 * Creates a version 7 UUID (RFC 9562). Ids that are created later sort later, to the millisecond.
 */
export function newId(now: number = Date.now()): string {
  const bytes = Buffer.alloc(16);
  randomFillSync(bytes, 6);
  bytes.writeUIntBE(now, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns whether a caller's text has the form of an id: a lower-case UUID of any version. */
export function isId(text: string): boolean {
  return uuid.test(text);
}

/**
 * Returns the id in a resource name, as in `idIn("transcripts", "transcripts/<id>")`; undefined if
 * the name has another form.
 */
export function idIn(collection: string, name: string): string | undefined {
  if (!name.startsWith(`${collection}/`)) return undefined;
  const id = name.slice(collection.length + 1);
  return isId(id) ? id : undefined;
}
