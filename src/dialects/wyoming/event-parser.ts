import { invalidArgument, type ServiceError } from "../../std/service-error.ts";

/** A part of what a client of Wyoming sends. The payload of an event comes in pieces after it. */
export type WyomingItem =
  | {
      readonly kind: "event";
      readonly type: string;
      readonly data: Readonly<Record<string, unknown>>;
      /** The bytes of the line and of the data. */
      readonly size: number;
    }
  | { readonly kind: "payload"; readonly bytes: Buffer };

/** The limits of an event. */
const eventLimits = {
  lineBytesMax: 65_536,
  dataBytesMax: 65_536,
  payloadBytesMax: 16 << 20,
} as const;

const lineFeed = 0x0a;

interface Header {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly lineBytes: number;
  readonly dataBytes: number;
  readonly payloadBytes: number;
}

/**
 * Parses the bytes of a connection, in chunks of any size: each event is a line of JSON, then its
 * data in JSON and its payload if the line says so. A payload is not kept, but passed on as it
 * comes.
 */
export class EventParser {
  /** The bytes of an incomplete line or of incomplete data. */
  readonly #parts: Buffer[] = [];
  #partBytes = 0;
  /** The event whose data is incomplete. */
  #header: Header | undefined;
  /** The bytes of the payload that have not come yet. */
  #payloadLeft = 0;

  /** Returns what the bytes complete. Throws invalid_argument for bytes of another protocol. */
  *push(bytes: Buffer): Generator<WyomingItem, void, undefined> {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#payloadLeft > 0) {
        const piece = rest.subarray(0, this.#payloadLeft);
        rest = rest.subarray(piece.length);
        this.#payloadLeft -= piece.length;
        yield { kind: "payload", bytes: piece };
        continue;
      }
      const end = this.#header ? this.#endOfData(this.#header, rest) : endOfLine(rest);
      const part = end === undefined ? rest : rest.subarray(0, end);
      rest = rest.subarray(part.length);
      this.#keep(part);
      if (end === undefined) return;
      const event = this.#header ? withData(this.#header, this.#take()) : this.#line(this.#take());
      if (event) yield this.#begin(event);
    }
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    this.#partBytes += part.length;
    const { lineBytesMax } = eventLimits;
    if (this.#header || this.#partBytes <= lineBytesMax) return;
    throw malformed("event", `the line has more than ${lineBytesMax} bytes`);
  }

  #take(): Buffer {
    const [first = Buffer.alloc(0), ...others] = this.#parts.splice(0);
    this.#partBytes = 0;
    return others.length === 0 ? first : Buffer.concat([first, ...others]);
  }

  /** Returns the end of the data in the bytes; undefined if it has not come. */
  #endOfData({ dataBytes }: Header, bytes: Buffer): number | undefined {
    const left = dataBytes - this.#partBytes;
    return left <= bytes.length ? left : undefined;
  }

  /** Reads a line. Returns undefined if data follows it, or if it is empty. */
  #line(line: Buffer): Header | undefined {
    const text = line.toString().trim();
    if (text === "") return undefined;
    const header = readHeader(text, line.length);
    if (header.dataBytes === 0) return header;
    this.#header = header;
    return undefined;
  }

  #begin({ type, data, lineBytes, dataBytes, payloadBytes }: Header): WyomingItem {
    this.#header = undefined;
    this.#payloadLeft = payloadBytes;
    return { kind: "event", type, data, size: lineBytes + dataBytes };
  }
}

function endOfLine(bytes: Buffer): number | undefined {
  const at = bytes.indexOf(lineFeed);
  return at === -1 ? undefined : at + 1;
}

function readHeader(text: string, lineBytes: number): Header {
  const header = objectOf(text, "event", "must be a line of JSON with a type");
  const { type, data } = header;
  if (typeof type !== "string") {
    throw malformed("event", "must be a line of JSON with a type");
  }
  return {
    type,
    data: isRecord(data) ? data : {},
    lineBytes,
    dataBytes: lengthIn(header, "data_length", eventLimits.dataBytesMax),
    payloadBytes: lengthIn(header, "payload_length", eventLimits.payloadBytesMax),
  };
}

function withData(header: Header, bytes: Buffer): Header {
  const data = objectOf(bytes.toString(), "data", "must be a JSON object");
  return { ...header, data: { ...header.data, ...data } };
}

function lengthIn(header: Readonly<Record<string, unknown>>, name: string, max: number): number {
  const value = header[name] ?? 0;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max) {
    return value;
  }
  throw malformed(name, `must be 0 to ${max}, not ${JSON.stringify(value).slice(0, 60)}`);
}

function objectOf(
  text: string,
  field: string,
  description: string,
): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // The error below names what it must be.
  }
  throw malformed(field, description);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function malformed(field: string, description: string): ServiceError {
  return invalidArgument([{ field, description }]);
}
