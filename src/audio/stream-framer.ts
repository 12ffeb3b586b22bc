import { AudioError } from "./audio-error.ts";

/** Checks the bytes of a stream while they arrive, and returns those that the decoder gets. */
export interface StreamFramer {
  /**
   * Yields the bytes that can be decoded now. The bytes given may be split anywhere. Throws
   * AudioError for bytes that are not of the format, after those before them.
   */
  push(bytes: Uint8Array): Iterable<Uint8Array>;
  /** Returns the rest. Throws AudioError if the stream is not whole. */
  end(): Uint8Array;
  /** How much of the start of the sound the encoder has added. It is known with the first sound. */
  readonly paddingSeconds?: number;
}

export const noBytes: Buffer = Buffer.alloc(0);

export function cutShort(): AudioError {
  return new AudioError("audio", "is cut short: it ends within a frame, page or box");
}

export function damaged(format: string): AudioError {
  return new AudioError("audio", `is damaged: its bytes are not ${format}`);
}
