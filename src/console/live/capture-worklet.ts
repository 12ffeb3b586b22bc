// Runs on the browser's audio thread, which continues while the page is busy or in the background.
// The messages that it posts are queued in order.

/** Declarations of this thread's globals, which TypeScript's DOM library lacks. */
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: typeof AudioWorkletProcessor): void;

/**
 * The duration of the audio in one message. On average, half of this duration is added to the delay
 * of a word, but each message costs the page some work.
 */
const chunkMs = 60;

/**
 * Posts the captured audio as LINEAR16, in chunks. Any message to this processor ends the capture.
 * The processor then posts the remaining audio, and after it the total number of samples, so that
 * the page can check whether it has received all of them.
 */
class Capture extends AudioWorkletProcessor {
  readonly #chunkSamples = Math.round((chunkMs * sampleRate) / 1000);
  #chunk = new Int16Array(this.#chunkSamples);
  #filled = 0;
  #captured = 0;
  #isOver = false;

  constructor() {
    super();
    this.port.addEventListener("message", () => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#send();
      this.port.postMessage(this.#captured, []);
    });
    this.port.start();
  }

  /** Called with every 128 samples. If no microphone is live, there is no channel. */
  process([channels]: readonly (readonly Float32Array[])[]): boolean {
    const samples = channels?.[0];
    if (this.#isOver || !samples) return !this.#isOver;
    this.#captured += samples.length;
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

/**
 * Converts a sample to LINEAR16: rounds it to the nearest value, and clips it if it is too loud.
 */
function sampleOf(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768)));
}

registerProcessor("capture", Capture);
