/**
 * The outputs of a model for the utterances of a recording, compacted, so that words can be aligned
 * without running the model again. They contain what was said, as text does.
 */
export interface KeptOutputs {
  /** The model; outputs are of no use to another one. */
  readonly model: string;
  /**
   * The utterances, one after another. Each has its start from the start of the audio, in
   * milliseconds, and its number of bytes (32 bits each, little-endian), then the bytes that its
   * engine wrote.
   */
  readonly bytes: Uint8Array;
}

/** A window of a recording of which the outputs are kept, instead of its samples. */
export interface OutputsWindow extends KeptOutputs {
  readonly windowMs: number;
}

/** An utterance within KeptOutputs. */
export interface UtteranceOutputs {
  readonly startMs: number;
  readonly bytes: Uint8Array;
}

const headerBytes = 8;

/** Joins utterances; the result is read with utterancesOf(). */
export function joinUtterances(utterances: readonly UtteranceOutputs[]): Uint8Array {
  const length = utterances.reduce((sum, { bytes }) => sum + headerBytes + bytes.length, 0);
  const joined = new Uint8Array(length);
  const view = new DataView(joined.buffer);
  let at = 0;
  for (const { startMs, bytes } of utterances) {
    view.setInt32(at, startMs, true);
    view.setUint32(at + 4, bytes.length, true);
    joined.set(bytes, at + headerBytes);
    at += headerBytes + bytes.length;
  }
  return joined;
}

/** Returns the utterances as views of the bytes. Throws RangeError if the bytes are damaged. */
export function utterancesOf(joined: Uint8Array): readonly UtteranceOutputs[] {
  const view = new DataView(joined.buffer, joined.byteOffset, joined.byteLength);
  const utterances: UtteranceOutputs[] = [];
  for (let at = 0; at < joined.length;) {
    const startMs = view.getInt32(at, true);
    const from = at + headerBytes;
    at = from + view.getUint32(at + 4, true);
    if (at > joined.length) throw new RangeError("an utterance of kept outputs is incomplete");
    utterances.push({ startMs, bytes: joined.subarray(from, at) });
  }
  return utterances;
}
