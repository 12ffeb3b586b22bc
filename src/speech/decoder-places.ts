import { ServiceError } from "../std/service-error.ts";

/** The maximum number of live streams of a node that need a decoder (docs/api.md, Speech). */
export const streamDecodersMax = 64;

/** Counts the decoders of live streams, each of which is a process. */
export class DecoderPlaces {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a place until it is disposed of. Throws DECODERS_FULL. */
  take(): Disposable {
    if (this.#taken >= this.#max) {
      throw new ServiceError(
        "resource_exhausted",
        `this node decodes ${this.#max} compressed streams, which is the maximum: try again later, or send LINEAR16`,
        { reason: "DECODERS_FULL", retryAfterMs: 1_000 },
      );
    }
    this.#taken += 1;
    return {
      [Symbol.dispose]: () => {
        this.#taken -= 1;
      },
    };
  }
}
