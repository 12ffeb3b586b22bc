/** The audio of an utterance that is still being spoken, which can be read several times. */
export class UtteranceAudio {
  readonly #chunks: Int16Array[] = [];
  #samples = 0;
  #isSilent = true;
  #isEnded = false;
  #onChange = Promise.withResolvers<void>();

  get samples(): number {
    return this.#samples;
  }

  /** Whether all samples are 0, or there are none. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  push(samples: Int16Array): void {
    if (samples.length === 0) return;
    this.#chunks.push(samples.slice());
    this.#samples += samples.length;
    this.#isSilent &&= samples.every((sample) => sample === 0);
    this.#changed();
  }

  end(): void {
    this.#isEnded = true;
    this.#changed();
  }

  /** Resolves when the utterance has ended, or the signal aborts. */
  async ended(signal: AbortSignal): Promise<void> {
    for await (const _ of this.read(signal));
  }

  /** Reads all chunks from the first on, and waits for more until the utterance ends. */
  async *read(signal: AbortSignal): AsyncGenerator<Int16Array, void, undefined> {
    const abort = () => this.#changed();
    signal.addEventListener("abort", abort);
    try {
      for (let at = 0; ;) {
        signal.throwIfAborted();
        const chunk = this.#chunks[at];
        if (chunk) {
          at += 1;
          yield chunk;
        } else if (this.#isEnded) return;
        else await this.#onChange.promise;
      }
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  #changed(): void {
    this.#onChange.resolve();
    this.#onChange = Promise.withResolvers<void>();
  }
}
