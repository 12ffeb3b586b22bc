// Runs on the browser's audio thread, which goes on while the page is busy or in the background:
// what it posts waits in order.

/** What TypeScript's DOM lacks of this thread. */
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: typeof AudioWorkletProcessor): void;

/**
 * How much goes in a message: a word is shown later by half of it on average, and each message
 * costs the page some work.
 */
const chunkMs = 60;

/**
 * Hands out what it hears as LINEAR16, in chunks; after any message to it the rest, and then how
 * many samples there were in all so that the page knows whether it has them all.
 */
class Capture extends AudioWorkletProcessor {
  readonly #chunkSamples = Math.round((chunkMs * sampleRate) / 1000);
  #chunk = new Int16Array(this.#chunkSamples);
  #filled = 0;
  #heard = 0;
  #isOver = false;

  constructor() {
    super();
    this.port.addEventListener("message", () => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#send();
      this.port.postMessage(this.#heard, []);
    });
    this.port.start();
  }

  /** Called for each 128 samples. Without a live microphone there is no channel. */
  process([channels]: readonly (readonly Float32Array[])[]): boolean {
    const samples = channels?.[0];
    if (this.#isOver || !samples) return !this.#isOver;
    this.#heard += samples.length;
    for (let at = 0; at < samples.length; at++) {
      this.#chunk[this.#filled] = sampleOf(samples[at] ?? 0);
      this.#filled += 1;
      if (this.#filled === this.#chunkSamples) this.#send();
    }
    return true;
  }

  #send(): void {
    const samples = this.#chunk.slice(0, this.#filled);
    this.#filled = 0;
    if (samples.length > 0) {
      this.port.postMessage({ samples, endAt: Date.now() }, [samples.buffer]);
    }
  }
}

/** Rounded to the nearest; what is louder than loudest is cut. */
function sampleOf(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768)));
}

registerProcessor("capture", Capture);
