// Runs on the browser's audio thread, which keeps running while the page is busy or in the
// background: messages that it posts wait in order.

/** Declarations of this thread's globals, which TypeScript's DOM library lacks. */
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: typeof AudioWorkletProcessor): void;

/**
 * The audio in one message. Half of it is added to the delay of a word on average, but each message
 * costs the page some work.
 */
const chunkMs = 60;

/**
 * Posts the captured audio as LINEAR16, in chunks. Any message to it ends the capture: it posts the
 * rest, and then the total number of samples, so that the page knows whether it has all of them.
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

  /** Called with each 128 samples. Without a live microphone there is no channel. */
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

/** Rounded to the nearest value; louder samples are clipped. */
function sampleOf(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768)));
}

registerProcessor("capture", Capture);
