import { Buffer } from "node:buffer";
import { invalidArgument, type ServiceError } from "../std/service-error.ts";
import { endOfString } from "./count-values.ts";
import { jsonContainersMax, jsonDepthMax, tooManyContainers } from "./json-text.ts";

/**
 * The position of a field's value in JSON text: from `start`, its first byte, to `end`, exclusive.
 */
export interface FieldExtent {
  readonly start: number;
  readonly end: number;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** The field to find in the JSON of an object. */
export interface SoughtField {
  /** All names of the field in JSON. */
  readonly names: ReadonlySet<string>;
  readonly kind: "list" | "object";
  /** The maximum number of elements of the list. */
  readonly itemsMax?: number;
}

/**
 * Finds the list or object that is the value of a field in the JSON of an object. Only brackets,
 * commas and strings are read. Malformed JSON is detected later, when the rest and the value are
 * parsed. Returns undefined if the position is not obvious: a name has an escape, the field occurs
 * twice, the value is of another kind, or the JSON nests too deep. Throws invalid_argument at the
 * first element, object or list that exceeds a limit.
 */
export function fieldExtent(json: Uint8Array, sought: SoughtField): FieldExtent | undefined {
  return new ExtentScan(json, sought).find();
}

/** Returns the invalid_argument error for a list that is too long. */
export function tooManyItems(list: string, itemsMax: number): ServiceError {
  const description = `has more than ${itemsMax} ${list}; at most ${itemsMax} are allowed`;
  return invalidArgument([{ field: list, description }]);
}

class ExtentScan {
  readonly #json: Buffer;
  readonly #sought: SoughtField;
  #at = 0;
  #containers = 0;

  constructor(json: Uint8Array, sought: SoughtField) {
    this.#json = Buffer.from(json.buffer, json.byteOffset, json.length);
    this.#sought = sought;
  }

  find(): FieldExtent | undefined {
    const { names, kind } = this.#sought;
    let found: FieldExtent | undefined;
    if (!this.#takes(openObject)) return undefined;
    do {
      const name = this.#name();
      if (name === undefined || !this.#takes(colon)) return undefined;
      this.#skipSpace();
      const start = this.#at;
      const isSought = names.has(name);
      const opening = kind === "list" ? openList : openObject;
      if (isSought && (found !== undefined || this.#json[start] !== opening)) return undefined;
      if (!this.#skipValue(isSought && kind === "list")) return undefined;
      if (isSought) found = { start, end: this.#at };
    } while (this.#takes(comma));
    return this.#takes(closeObject) ? found : undefined;
  }

  #name(): string | undefined {
    if (!this.#takes(quote)) return undefined;
    const start = this.#at;
    const end = endOfString(this.#json, start);
    this.#at = end + 1;
    const name = this.#json.subarray(start, end);
    return name.length > nameBytesMax || name.includes(backslash)
      ? undefined
      : String.fromCharCode(...name);
  }

  /**
   * Advances past the value. Returns false if the value has no end or nests too deep. `isCounted`
   * states whether the value is the list to find, whose elements are counted.
   */
  #skipValue(isCounted: boolean): boolean {
    const json = this.#json;
    const { itemsMax = Infinity } = this.#sought;
    const { length } = json;
    let depth = 1;
    let items = 1;
    for (; this.#at < length; this.#at += 1) {
      const byte = json[this.#at];
      if (byte === quote) this.#at = endOfString(json, this.#at + 1);
      else if (byte === comma) {
        if (depth === 1) return true;
        if (depth === 2 && isCounted && ++items > itemsMax) {
          throw tooManyItems([...this.#sought.names].at(-1) ?? "", itemsMax);
        }
      } else if (byte === openList || byte === openObject) {
        this.#containers += 1;
        depth += 1;
        if (this.#containers > jsonContainersMax) throw tooManyContainers();
        if (depth > jsonDepthMax) return false;
      } else if (byte === closeList || byte === closeObject) {
        if (depth === 1) return true;
        depth -= 1;
      }
    }
    return false;
  }

  #takes(byte: number): boolean {
    this.#skipSpace();
    if (this.#json[this.#at] !== byte) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    for (; ; this.#at += 1) {
      const byte = this.#json[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
    }
  }
}

/** The maximum length of a name in bytes, greater than that of any field name. */
const nameBytesMax = 200;
