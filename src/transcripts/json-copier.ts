/** JSON that a copier leaves to others. */
export class Unusual extends Error {}

const quote = 0x22;
const colon = 0x3a;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;

/**
 * Copies JSON from bytes to bytes, one token after the other, in canonical form: without space,
 * with as few escapes as there can be. Each function begins where the one before has ended, and
 * throws Unusual where it does not find what it is to read.
 */
export class JsonCopier {
  readonly #in: Uint8Array;
  readonly #out: Buffer;
  /** Where it reads; it may be set back. */
  at = 0;
  #to = 0;

  /** The copy may take `outBytesMax`. */
  constructor(json: Uint8Array, outBytesMax: number) {
    this.#in = json;
    this.#out = Buffer.allocUnsafeSlow(outBytesMax);
  }

  /** All that was copied; the text must have nothing else. */
  end(): Buffer {
    this.#skipSpace();
    if (this.at < this.#in.length) throw new Unusual();
    return this.#out.subarray(0, this.#to);
  }

  /** A name that ends with its quote, and what stands between it and its value. */
  takesKey(key: Buffer): boolean {
    for (let index = 0; index < key.length; index += 1) {
      if (this.#in[this.at + index] !== key[index]) return false;
    }
    this.at += key.length;
    this.expect(colon);
    this.#skipSpace();
    return true;
  }

  expect(byte: number): void {
    if (!this.takes(byte)) throw new Unusual();
  }

  takes(byte: number): boolean {
    this.#skipSpace();
    if (this.#in[this.at] !== byte) return false;
    this.at += 1;
    return true;
  }

  #skipSpace(): void {
    for (; ; this.at += 1) {
      const byte = this.#in[this.at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
    }
  }

  put(byte: number): void {
    this.#out[this.#to] = byte;
    this.#to += 1;
  }

  copy(text: Buffer): void {
    for (let index = 0; index < text.length; index += 1) {
      this.#out[this.#to + index] = text[index] ?? 0;
    }
    this.#to += text.length;
  }

  /** Seconds, and 0, 3, 6 or 9 digits of a fraction. */
  putTime(time: number): void {
    const seconds = Math.floor(time / 1e9);
    const nanos = time - seconds * 1e9;
    let unit = 1;
    while (unit * 10 <= seconds) unit *= 10;
    this.#putDigits(seconds, unit);
    if (nanos === 0) return;
    this.put(0x2e);
    if (nanos % 1e6 === 0) this.#putDigits(nanos / 1e6, 100);
    else if (nanos % 1000 === 0) this.#putDigits(nanos / 1000, 100_000);
    else this.#putDigits(nanos, 100_000_000);
  }

  #putDigits(value: number, unit: number): void {
    let rest = value;
    for (let one = unit; one >= 1; one = Math.floor(one / 10)) {
      const digit = Math.floor(rest / one);
      rest -= digit * one;
      this.put(0x30 + digit);
    }
  }

  /** A duration in nanoseconds: "12.5s", without escapes. */
  time(): number {
    this.expect(quote);
    let at = this.at;
    let seconds = 0;
    let digit = digitOf(this.#in[at]);
    const from = at;
    for (; digit >= 0; digit = digitOf(this.#in[(at += 1)])) seconds = seconds * 10 + digit;
    const digits = at - from;
    let nanos = 0;
    if (this.#in[at] === 0x2e) {
      let unit = 1e9;
      digit = digitOf(this.#in[(at += 1)]);
      for (; digit >= 0; digit = digitOf(this.#in[(at += 1)])) nanos += digit * (unit /= 10);
      if (unit < 1 || unit === 1e9) throw new Unusual();
    }
    const time = seconds * 1e9 + nanos;
    const isTime =
      digits > 0 && digits <= 10 && this.#in[at] === 0x73 && time <= Number.MAX_SAFE_INTEGER;
    if (!isTime || this.#in[at + 1] !== quote) throw new Unusual();
    this.at = at + 2;
    return time;
  }

  /** Copies a string to behind its closing quote, which is not copied, in canonical form. */
  string(charsMax: number): void {
    this.expect(quote);
    const source = this.#in;
    const target = this.#out;
    let at = this.at;
    let to = this.#to;
    let chars = 0;
    for (let byte = source[at] ?? quote; byte !== quote; byte = source[at] ?? quote) {
      if (byte === backslash) {
        this.at = at + 1;
        this.#to = to;
        this.#escape();
        at = this.at;
        to = this.#to;
        chars += 1;
        continue;
      }
      // Control characters: of ASCII, and U+0080 to U+009F.
      if (byte < 0x20 || byte === 0x7f) throw new Unusual();
      if (byte === 0xc2 && (source[at + 1] ?? 0) < 0xa0) throw new Unusual();
      if ((byte & 0xc0) !== 0x80) chars += 1;
      target[to] = byte;
      to += 1;
      at += 1;
    }
    if (chars > charsMax) throw new Unusual();
    this.#to = to;
    this.at = at + 1;
  }

  /** Writes the character of an escape, as an escape only where it must be one. */
  #escape(): void {
    const code = this.#escapedCode();
    if (code === quote || code === backslash) this.put(backslash);
    if (code === 0x09 || code === 0x0a) {
      this.put(backslash);
      this.put(code === 0x09 ? 0x74 : 0x6e);
    } else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) throw new Unusual();
    else if (code < 0x80) this.put(code);
    else this.#to += this.#out.write(String.fromCodePoint(code), this.#to);
  }

  #escapedCode(): number {
    const letter = this.#in[this.at];
    this.at += 1;
    if (letter === quote || letter === backslash || letter === 0x2f) return letter;
    if (letter === 0x74) return 0x09;
    if (letter === 0x6e) return 0x0a;
    if (letter !== 0x75) throw new Unusual();
    const unit = this.#hex();
    if ((unit & 0xf800) !== 0xd800) return unit;
    const isPair = this.#in[this.at] === backslash && this.#in[this.at + 1] === 0x75;
    this.at += 2;
    const low = isPair ? this.#hex() : 0;
    if (unit > 0xdbff || (low & 0xfc00) !== 0xdc00) throw new Unusual();
    return 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
  }

  #hex(): number {
    let value = 0;
    const end = this.at + 4;
    for (; this.at < end; this.at += 1) {
      const digit = hexDigits.indexOf(this.#in[this.at] ?? 0);
      if (digit === -1) throw new Unusual();
      value = value * 16 + (digit < 16 ? digit : digit - 6);
    }
    return value;
  }

  skipString(): void {
    this.expect(quote);
    const source = this.#in;
    let at = this.at;
    for (let byte = source[at] ?? quote; byte !== quote; byte = source[at] ?? quote) {
      at += byte === backslash ? 2 : 1;
    }
    if (at >= source.length) throw new Unusual();
    this.at = at + 1;
  }

  /** To behind the list: of words, which hold no lists. */
  skipList(): void {
    this.expect(openList);
    for (;;) {
      this.#skipSpace();
      const byte = this.#in[this.at];
      if (byte === undefined || byte === openList) throw new Unusual();
      if (byte === quote) this.skipString();
      else this.at += 1;
      if (byte === closeList) return;
    }
  }
}

function digitOf(byte: number | undefined): number {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : -1;
}

const hexDigits = Buffer.from("0123456789abcdefABCDEF");
