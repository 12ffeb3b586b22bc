import { restoredSamples, savedSamples } from "./saved-samples.ts";
import { joinSamples } from "./join-samples.ts";
import type { VoiceActivity } from "./voice-activity.ts";

export interface UtteranceCutterOptions {
  readonly voiceActivity: VoiceActivity;
  /** The length of silence that ends an utterance. */
  readonly silenceMsMin: number;
  /** The length after which an utterance ends without silence. */
  readonly utteranceMsMax: number;
}

/**
 * The output of the cutter, in order: begin, audio or pause..., end, begin, ... Offsets count
 * samples from the first sample that was pushed. A pause is yielded when the silence after speech
 * is held back. Unless speech continues, the end follows after samplesToEnd more samples.
 */
export type Cut =
  | { readonly kind: "begin"; readonly startSample: number }
  | { readonly kind: "audio"; readonly samples: Int16Array }
  | { readonly kind: "pause"; readonly samplesToEnd: number }
  | { readonly kind: "end"; readonly endSample: number };

/** The state of a cutter between two utterances, as plain data. */
export interface SavedCutter {
  /** The name of the detector of voice activity. An earlier version does not say it. */
  readonly detector?: string;
  readonly voiceActivity: readonly number[];
  readonly position: number;
  /** Samples that may become the lead of the next utterance, and the lengths of their chunks. */
  readonly held: string;
  readonly heldLengths: readonly number[];
  /** The incomplete frame. */
  readonly frame: string;
}

/** Samples per millisecond at 16 kHz. */
const perMs = 16;
/** The number of samples before speech that belong to the utterance. */
const leadSamples = 150 * perMs;
/**
 * The number of samples within which speech may have begun with the stream, or when the stream was
 * unmuted, before the noise floor was known.
 */
const earlySamples = 1000 * perMs;
/**
 * The number of samples of silence after speech that belong to the utterance. More silence belongs
 * to it only if speech continues in the same utterance.
 */
const trailSamples = 150 * perMs;

/**
 * Cuts a stream of 16 kHz samples into utterances (endpointing), the same way for every engine:
 * from shortly before speech until silence, the maximum length, or endUtterance(). The cuts do not
 * depend on how the input is split into chunks.
 */
export class UtteranceCutter {
  readonly #activity: VoiceActivity;
  readonly #silenceSamplesMin: number;
  readonly #utteranceSamplesMax: number;
  readonly #leadSamplesMax: number;
  /**
   * Samples that are held back: before an utterance, its possible lead; within an utterance, the
   * silence after the trail.
   */
  #held: Int16Array[] = [];
  #heldSamples = 0;
  /** The samples of the next frame, while it is incomplete. */
  readonly #frame: Int16Array;
  #frameFilled = 0;
  /** The number of processed samples, without those of the incomplete frame. */
  #position = 0;
  /** The start of the current utterance. */
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

  /** Whether an utterance has begun and has not ended. */
  get isWithinUtterance(): boolean {
    return this.#startSample !== undefined;
  }

  /** Returns the state between two utterances. Throws within an utterance. */
  save(): SavedCutter {
    if (this.isWithinUtterance) throw new Error("a cutter can only be saved between utterances");
    return {
      detector: this.#activity.name,
      voiceActivity: this.#activity.save(),
      position: this.#position,
      held: savedSamples(this.#joinHeld()),
      heldLengths: this.#held.map(({ length }) => length),
      frame: savedSamples(this.#frame.subarray(0, this.#frameFilled)),
    };
  }

  /** Restores a saved state in a new cutter. */
  restore(saved: SavedCutter): void {
    const { name } = this.#activity;
    // Another detector, of a model or a node with other settings, begins to learn.
    if ((saved.detector ?? name) === name) this.#activity.restore(saved.voiceActivity);
    this.#position = saved.position;
    const held = restoredSamples(saved.held);
    let at = 0;
    for (const length of saved.heldLengths) this.#hold(held.subarray(at, (at += length)));
    const frame = restoredSamples(saved.frame);
    if (frame.length >= this.#frame.length) {
      throw new RangeError(`a frame of ${this.#frame.length} samples cannot have ${frame.length}`);
    }
    this.#frame.set(frame);
    this.#frameFilled = frame.length;
  }

  /**
   * Accepts the next samples, which the caller must not change any more. Yields consecutive audio
   * in one cut.
   */
  *push(samples: Int16Array): Generator<Cut, void, undefined> {
    for (let at = 0; at < samples.length;) {
      const frame = this.#fill(samples, at);
      if (!frame) break;
      at += frame.taken;
      const cuts = this.#take(frame.samples);
      if (cuts) yield* cuts;
    }
    const isSpoken = this.#startSample !== undefined && this.#silenceSamples <= trailSamples;
    if (isSpoken && this.#heldSamples > 0) yield this.#release();
  }

  /**
   * Returns the next complete frame, if there is one. The frame is a view if it lies within these
   * samples.
   */
  #fill(samples: Int16Array, at: number): { samples: Int16Array; taken: number } | undefined {
    const { length } = this.#frame;
    if (this.#frameFilled === 0 && at + length <= samples.length) {
      return { samples: samples.subarray(at, at + length), taken: length };
    }
    const part = samples.subarray(at, at + length - this.#frameFilled);
    this.#frame.set(part, this.#frameFilled);
    this.#frameFilled += part.length;
    if (this.#frameFilled < length) return undefined;
    this.#frameFilled = 0;
    return { samples: this.#frame.slice(), taken: part.length };
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

  /** Processes a frame. Returns undefined if the frame is only held back. */
  #take(frame: Int16Array): readonly Cut[] | undefined {
    const isSpeech = this.#activity.isSpeech(frame);
    this.#position += frame.length;
    if (this.#startSample === undefined) {
      this.#hold(frame);
      if (isSpeech) return [this.#begin()];
      this.#trimLead();
      return undefined;
    }
    const silenceBefore = this.#silenceSamples;
    this.#silenceSamples = isSpeech ? 0 : silenceBefore + frame.length;
    const cuts: Cut[] = [];
    const isPastTrail = this.#silenceSamples > trailSamples;
    if (isPastTrail && silenceBefore <= trailSamples && this.#heldSamples > 0) {
      cuts.push(this.#release());
    }
    this.#hold(frame);
    const isLong = this.#position - this.#startSample >= this.#utteranceSamplesMax;
    const isEnd = isLong || this.#silenceSamples >= this.#silenceSamplesMin;
    const isPause = silenceBefore < trailSamples && this.#silenceSamples >= trailSamples;
    if (!isEnd && !isPause) return cuts.length > 0 ? cuts : undefined;
    if (!isPastTrail) cuts.push(this.#release());
    cuts.push(isEnd ? this.#end() : this.#pause());
    return cuts;
  }

  #begin(): Cut {
    this.#startSample = this.#position - this.#heldSamples;
    return { kind: "begin", startSample: this.#startSample };
  }

  #pause(): Cut {
    return { kind: "pause", samplesToEnd: this.#silenceSamplesMin - this.#silenceSamples };
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
    const samples = this.#joinHeld();
    this.#held = [];
    this.#heldSamples = 0;
    return { kind: "audio", samples };
  }

  /**
   * Returns the held samples in one array, which is a view if they are contiguous, as the frames of
   * one chunk are.
   */
  #joinHeld(): Int16Array {
    const [first] = this.#held;
    const last = this.#held.at(-1);
    if (!first || !last) return new Int16Array(0);
    const end = last.byteOffset + last.byteLength;
    const isOne = this.#held.every(({ buffer }) => buffer === first.buffer);
    if (isOne && end - first.byteOffset === this.#heldSamples * first.BYTES_PER_ELEMENT) {
      return new Int16Array(first.buffer, first.byteOffset, this.#heldSamples);
    }
    return joinSamples(this.#held);
  }

  #trimLead(): void {
    const learnedSamples = this.#activity.learnedFrames * this.#activity.frameSamples;
    const earlyLength = learnedSamples <= earlySamples ? learnedSamples + leadSamples : 0;
    const lengthMax = Math.max(this.#leadSamplesMax, earlyLength);
    while (this.#heldSamples > lengthMax) {
      this.#heldSamples -= this.#held.shift()?.length ?? 0;
    }
  }
}
