import type { Distribution } from "./distribution.ts";
import type { SentChunks } from "./sent-chunks.ts";
import type { StreamResult } from "./stream-answer.ts";

/** The lags of all streams. */
export interface LagDistributions {
  readonly interim: Distribution;
  readonly final: Distribution;
  readonly lastFinal: Distribution;
}

/**
 * Measures the lag of the messages of one stream: the time since the audio that a message waited
 * for was sent. A message covers the audio up to the end of its last word.
 *
 * - An interim result waited for the chunk with this end. Each end counts once, since a message
 *   that only changes earlier words did not wait for audio.
 * - A final result waited for the chunk that completes `silenceMs` of silence after this end, since
 *   no server can know earlier that the utterance has ended. If that chunk was not sent yet, the
 *   utterance reached its maximum length, and the result waited for the chunk with the end.
 * - The last final result waited for the empty audioContent, if the stream was finalized before
 *   that silence was complete.
 *
 * Messages without word times are not counted, since the audio that they cover is unknown.
 */
export class StreamLag {
  readonly #sent: SentChunks;
  readonly #silenceMs: number;
  readonly #distributions: LagDistributions;
  #interimEndMs = -1;

  constructor(sent: SentChunks, silenceMs: number, distributions: LagDistributions) {
    this.#sent = sent;
    this.#silenceMs = silenceMs;
    this.#distributions = distributions;
  }

  answered({ isFinal, endMs }: StreamResult, atMs: number): void {
    if (endMs === undefined) return;
    if (isFinal) this.#final(endMs, atMs);
    else if (endMs > this.#interimEndMs) {
      this.#interimEndMs = endMs;
      this.#distributions.interim.add(atMs - this.#sentAtOf(endMs, atMs));
    }
  }

  #final(endMs: number, atMs: number): void {
    const silenceAt = this.#sent.sentAtOf(endMs + this.#silenceMs);
    const { finalizedAt } = this.#sent;
    if (silenceAt !== undefined) this.#distributions.final.add(atMs - silenceAt);
    else if (finalizedAt !== undefined) this.#distributions.lastFinal.add(atMs - finalizedAt);
    else this.#distributions.final.add(atMs - this.#sentAtOf(endMs, atMs));
  }

  #sentAtOf(audioMs: number, atMs: number): number {
    return this.#sent.sentAtOf(audioMs) ?? this.#sent.lastSentAt ?? atMs;
  }
}
