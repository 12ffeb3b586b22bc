import { jsonContainersMax, jsonDepthMax } from "./json-text.ts";

/** Where the value of a field is in JSON text: from `start`, where its first byte is, to `end`. */
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

/**
 * Finds the list that the field with one of these names has in the JSON of an object. Brackets and strings are counted, no more: what
 * is not JSON shows when the rest is read without the list, and the list by itself. undefined where the place is not plain to see: an
 * escape in a name, the field twice, a value that is no list, more depth or objects than JSON may have here.
 */
export function fieldExtent(json: Uint8Array, names: ReadonlySet<string>): FieldExtent | undefined {
  return new ExtentScan(json, names).find({ isLast: false });
}

/**
 * The same for a list that is the last in the object, as clients write it, without a look at what is in it: 5 MB take 10 ms otherwise.
 * It is wrong only for a text whose list, by itself, is no JSON: who reads the list makes sure.
 */
export function lastFieldExtent(
  json: Uint8Array,
  names: ReadonlySet<string>,
): FieldExtent | undefined {
  return new ExtentScan(json, names).find({ isLast: true });
}

class ExtentScan {
  readonly #json: Uint8Array;
  readonly #names: ReadonlySet<string>;
  #at = 0;
  #containers = 0;

  constructor(json: Uint8Array, names: ReadonlySet<string>) {
    this.#json = json;
    this.#names = names;
  }

  find({ isLast }: { isLast: boolean }): FieldExtent | undefined {
    let found: FieldExtent | undefined;
    if (!this.#takes(openObject)) return undefined;
    do {
      const name = this.#name();
      if (name === undefined || !this.#takes(colon)) return undefined;
      this.#skipSpace();
      const start = this.#at;
      const isSought = this.#names.has(name);
      if (isSought && (found !== undefined || this.#json[start] !== openList)) return undefined;
      if (isSought && isLast) return this.#toTheEnd(name, start);
      if (!this.#skipValue()) return undefined;
      if (isSought) found = { start, end: this.#at };
    } while (this.#takes(comma));
    return this.#takes(closeObject) && this.#containers <= jsonContainersMax ? found : undefined;
  }

  /** From here to the last bracket, if nothing but the end of the object is behind that, and the name nowhere else. */
  #toTheEnd(name: string, start: number): FieldExtent | undefined {
    const json = Buffer.from(this.#json.buffer, this.#json.byteOffset, this.#json.length);
    const behind = json.subarray(-endBytesMax).toString("latin1");
    const [last] = /\][ \n\r\t]*\}[ \n\r\t]*$/.exec(behind) ?? [];
    if (last === undefined || json.includes(name, start)) return undefined;
    return { start, end: json.length - last.length + 1 };
  }

  #name(): string | undefined {
    if (!this.#takes(quote)) return undefined;
    const start = this.#at;
    this.#skipString();
    const name = this.#json.subarray(start, this.#at - 1);
    return name.length > nameBytesMax || name.includes(backslash)
      ? undefined
      : String.fromCharCode(...name);
  }

  /** Stands behind the value then; false: it has no end, or nests too deep. */
  #skipValue(): boolean {
    const json = this.#json;
    let depth = 1;
    const { length } = json;
    for (; this.#at < length; this.#at += 1) {
      const byte = json[this.#at];
      if (byte === quote) {
        this.#at += 1;
        this.#skipString();
        this.#at -= 1;
      } else if (byte === comma) {
        if (depth === 1) return true;
      } else if (byte === openList || byte === openObject) {
        this.#containers += 1;
        depth += 1;
        if (depth > jsonDepthMax) return false;
      } else if (byte === closeList || byte === closeObject) {
        if (depth === 1) return true;
        depth -= 1;
      }
    }
    return false;
  }

  /** From behind the opening quote to behind the closing one, or past the end. */
  #skipString(): void {
    const json = this.#json;
    const { length } = json;
    let at = this.#at;
    for (let byte = json[at]; byte !== quote && at < length; byte = json[at]) {
      at += byte === backslash ? 2 : 1;
    }
    this.#at = at + 1;
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

/** The end of an object, with as much space as anybody writes there. */
const endBytesMax = 100;
/** Longer than the name of any field. */
const nameBytesMax = 200;
