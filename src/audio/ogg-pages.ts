import { oggCrc } from "./flac-pages.ts";
import { cutShort, damaged, noBytes, type StreamFramer } from "./stream-framer.ts";

const headBytes = 27;

/** Checks the pages of an Ogg stream (RFC 3533), and passes on those that are whole. */
export class OggPages implements StreamFramer {
  #held: Buffer = noBytes;

  *push(bytes: Uint8Array): Generator<Uint8Array> {
    this.#held = Buffer.concat([this.#held, bytes]);
    for (;;) {
      const end = pageEnd(this.#held);
      if (end === undefined) return;
      const page = this.#held.subarray(0, end);
      const sum = page.readUInt32LE(22);
      if (oggCrc(Buffer.from(page).fill(0, 22, 26)) !== sum) throw damaged("whole pages of Ogg");
      this.#held = this.#held.subarray(end);
      yield page;
    }
  }

  end(): Uint8Array {
    if (this.#held.length > 0) throw cutShort();
    return noBytes;
  }
}

/** Returns the length of the page with which these bytes begin, if all of it is there. */
function pageEnd(bytes: Buffer): number | undefined {
  if (!"OggS".startsWith(bytes.toString("latin1", 0, 4))) throw damaged("pages of Ogg");
  if (bytes.length < headBytes) return undefined;
  const body = headBytes + bytes.readUInt8(headBytes - 1);
  if (bytes.length < body) return undefined;
  const end = bytes.subarray(headBytes, body).reduce((sum, length) => sum + length, body);
  return bytes.length < end ? undefined : end;
}
