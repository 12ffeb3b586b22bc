import { checkResults } from "./check-readings.ts";
import type { ServerReading, ServerResult } from "./hosted-server.ts";

/** A result of an answer, whose readings are best first. */
export interface StreamedResult {
  readonly isFinal: boolean;
  readonly readings: readonly ServerReading[];
}

/** The results of a stream: those that are final, and the text so far. */
export class LiveText {
  readonly #onPartial: (reading: ServerReading) => void;
  readonly #finals: ServerResult[] = [];

  constructor(onPartial: (reading: ServerReading) => void) {
    this.#onPartial = onPartial;
  }

  get results(): readonly ServerResult[] {
    return this.#finals;
  }

  take(answer: readonly StreamedResult[]): void {
    const open: ServerReading[] = [];
    for (const { isFinal, readings } of answer) {
      if (isFinal) this.#finals.push(readings);
      else open.push(...readings.slice(0, 1));
    }
    checkResults(this.#finals.length);
    const bests = [...this.#finals.flatMap(([best]) => best ?? []), ...open];
    this.#onPartial({ text: bests.map(({ text }) => text).join(" "), words: [] });
  }
}

/** Returns the bytes of samples, which are little-endian on all machines that Node runs on here. */
export function bytesOf({ buffer, byteOffset, byteLength }: Int16Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new Uint8Array(buffer, byteOffset, byteLength));
}
