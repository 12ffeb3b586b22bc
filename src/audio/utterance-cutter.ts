import type { VoiceActivity } from "./voice-activity.ts";

export interface UtteranceCutterOptions {
  readonly voiceActivity: VoiceActivity;
  /** Silence that ends an utterance. */
  readonly silenceMsMin: number;
  /** Length after which an utterance ends without silence. */
  readonly utteranceMsMax: number;
}

/** What the cutter finds, in order: begin, audio..., end, begin, ... Offsets count samples from the first one pushed. */
export type Cut =
  | { readonly kind: "begin"; readonly startSample: number }
  | { readonly kind: "audio"; readonly samples: Int16Array }
  | { readonly kind: "end"; readonly endSample: number };

/** Samples a millisecond at 16 kHz. */
const perMs = 16;
/** Kept from before speech begins. */
const leadSamples = 300 * perMs;
/** Speech found this early begins with the stream: nothing is yet known of its noise. */
const earlySamples = 1000 * perMs;
/** Handed out after speech; of a longer silence the rest is only when speech goes on in the same utterance. */
const trailSamples = 300 * perMs;

/**
 * Cuts a stream of 16 kHz samples into utterances, the same way for every engine: from shortly before speech until silence,
 * the greatest length, or endUtterance(). The chunks that it is fed in do not change the cuts.
 */
export class UtteranceCutter {
  readonly #activity: VoiceActivity;
  readonly #silenceSamplesMin: number;
  readonly #utteranceSamplesMax: number;
  readonly #leadSamplesMax: number;
  /** Read but not handed out: before an utterance what may become its lead, within one the silence after the trail. */
  #held: Int16Array[] = [];
  #heldSamples = 0;
  /** Samples of the next frame, while it is incomplete. */
  readonly #frame: Int16Array;
  #frameFilled = 0;
  /** Samples read, without those of the incomplete frame. */
  #position = 0;
  /** Where the current utterance began. */
  #startSample: number | undefined;
  #silenceSamples = 0;

  constructor(options: UtteranceCutterOptions) {
    this.#activity = options.voiceActivity;
    this.#silenceSamplesMin = options.silenceMsMin * perMs;
    this.#utteranceSamplesMax = options.utteranceMsMax * perMs;
    const { frameSamples, delayFrames } = this.#activity;
    this.#leadSamplesMax = leadSamples + delayFrames * frameSamples;
    this.#frame = new Int16Array(frameSamples);
  }

  /** Takes the next samples. */
  *push(samples: Int16Array): Generator<Cut, void, undefined> {
    for (let at = 0; at < samples.length;) {
      const part = samples.subarray(at, at + this.#frame.length - this.#frameFilled);
      this.#frame.set(part, this.#frameFilled);
      this.#frameFilled += part.length;
      at += part.length;
      if (this.#frameFilled < this.#frame.length) return;
      this.#frameFilled = 0;
      yield* this.#take(this.#frame.slice());
    }
  }

  /** Ends the current utterance, if there is one, after the samples so far. */
  *endUtterance(): Generator<Cut, void, undefined> {
    if (this.#startSample === undefined) return;
    const rest = this.#frame.slice(0, this.#frameFilled);
    this.#frameFilled = 0;
    this.#position += rest.length;
    this.#hold(rest);
    if (this.#silenceSamples < trailSamples) yield this.#release();
    yield this.#end();
  }

  *#take(frame: Int16Array): Generator<Cut, void, undefined> {
    const isSpeech = this.#activity.isSpeech(frame);
    this.#position += frame.length;
    this.#hold(frame);
    if (this.#startSample === undefined) {
      if (!isSpeech) {
        this.#trimLead();
        return;
      }
      this.#startSample = this.#position - this.#heldSamples;
      yield { kind: "begin", startSample: this.#startSample };
    }
    this.#silenceSamples = isSpeech ? 0 : this.#silenceSamples + frame.length;
    if (this.#silenceSamples <= trailSamples) yield this.#release();
    const isLong = this.#position - this.#startSample >= this.#utteranceSamplesMax;
    if (isLong || this.#silenceSamples >= this.#silenceSamplesMin) yield this.#end();
  }

  #end(): Cut {
    this.#startSample = undefined;
    this.#silenceSamples = 0;
    return { kind: "end", endSample: this.#position };
  }

  #hold(samples: Int16Array): void {
    this.#held.push(samples);
    this.#heldSamples += samples.length;
  }

  #release(): Cut {
    const samples = new Int16Array(this.#heldSamples);
    let at = 0;
    for (const part of this.#held) {
      samples.set(part, at);
      at += part.length;
    }
    this.#held = [];
    this.#heldSamples = 0;
    return { kind: "audio", samples };
  }

  #trimLead(): void {
    const isWhole = this.#heldSamples === this.#position;
    if (isWhole && this.#position <= earlySamples) return;
    while (this.#heldSamples > this.#leadSamplesMax) {
      this.#heldSamples -= this.#held.shift()?.length ?? 0;
    }
  }
}
