import { NoiseFloor } from "./noise-floor.ts";
import {
  chunkSamples,
  contextSamples,
  NetworkState,
  speechNetwork,
  type SpeechNetwork,
} from "./speech-network.ts";
import { SavedNumbers } from "./saved-numbers.ts";
import type { VoiceActivity } from "./voice-activity.ts";

/** A frame is 10 ms. */
const frameSamples = 160;
/**
 * The network runs while there is sound this far above the noise floor, and for gateFrames after
 * it.
 */
const gateDb = 4;
const gateFrames = 40;
/**
 * The number of chunks before the sound that the network reads first, since it decides by what was
 * before.
 */
const chunksBefore = 4;
/** The probabilities at which speech begins and at which it continues. */
const onsetProbability = 0.5;
const holdProbability = 0.35;
/**
 * Speech begins with this many probable chunks one after the other: clicks, tones and the
 * beginnings of noises are one or two. A syllable is four to ten.
 */
const onsetChunks = 3;
/**
 * The onset is found about this many frames after the first sound. More frames would be noise
 * before the speech, which some models decode as words.
 */
const onsetDelayFrames = 20;

/**
 * Voice activity detection by a neural network, which runs only while there is sound above the
 * noise floor. So silence and steady noise cost nearly nothing, and music, typing and voices in
 * noise are judged by how they sound.
 */
export class NetworkVoiceActivity implements VoiceActivity {
  readonly name = "network";
  readonly frameSamples = frameSamples;
  readonly delayFrames = onsetDelayFrames;

  readonly #network: SpeechNetwork;
  readonly #noiseFloor = new NoiseFloor();
  readonly #state = new NetworkState();
  /** The number of frames for which the network still runs. */
  #gateFrames = 0;
  #isRunning = false;
  #isSpeech = false;
  /** The number of probable chunks at the end, before speech has begun. */
  #probableChunks = 0;
  /** The last samples before the incomplete chunk, and then that chunk. */
  readonly #samples = new Int16Array(contextSamples + (chunksBefore + 1) * chunkSamples);
  #filled = 0;

  constructor(network = speechNetwork()) {
    this.#network = network;
  }

  get learnedFrames(): number {
    return this.#noiseFloor.learnedFrames;
  }

  isSpeech(frame: Int16Array): boolean {
    const { smoothDb, floorDb } = this.#noiseFloor.push(frame, this.#isSpeech);
    const isSound = smoothDb > floorDb + gateDb;
    this.#gateFrames = isSound ? gateFrames : Math.max(0, this.#gateFrames - 1);
    for (let at = 0; at < frame.length;) at += this.#take(frame.subarray(at));
    return this.#isSpeech;
  }

  save(): readonly number[] {
    const { values } = this.#state;
    const samples = this.#samples.subarray(0, this.#chunkStart + this.#filled);
    return [
      this.#gateFrames,
      Number(this.#isRunning),
      Number(this.#isSpeech),
      this.#probableChunks,
      this.#filled,
      ...samples,
      ...(this.#isRunning ? values : []),
      ...this.#noiseFloor.save(),
    ];
  }

  restore(numbers: readonly number[]): void {
    const saved = new SavedNumbers(numbers);
    this.#gateFrames = saved.next();
    this.#isRunning = saved.next() === 1;
    this.#isSpeech = saved.next() === 1;
    this.#probableChunks = saved.next();
    const filled = saved.next();
    if (!Number.isInteger(filled) || filled < 0 || filled >= chunkSamples) {
      throw new RangeError(`a chunk with ${filled} samples is not one that was saved`);
    }
    this.#filled = filled;
    this.#samples.set(saved.list(this.#chunkStart + filled));
    const { values } = this.#state;
    if (this.#isRunning) values.set(saved.list(values.length));
    this.#noiseFloor.restore(saved);
  }

  get #chunkStart(): number {
    return this.#samples.length - chunkSamples;
  }

  /** Takes samples up to the end of the chunk. Returns their number. */
  #take(samples: Int16Array): number {
    const part = samples.subarray(0, chunkSamples - this.#filled);
    this.#samples.set(part, this.#chunkStart + this.#filled);
    this.#filled += part.length;
    if (this.#filled === chunkSamples) {
      this.#decide();
      this.#samples.copyWithin(0, chunkSamples);
      this.#filled = 0;
    }
    return part.length;
  }

  /** Decides whether the stream contains speech after a complete chunk. */
  #decide(): void {
    if (this.#gateFrames === 0) {
      this.#isRunning = false;
      this.#isSpeech = false;
      return;
    }
    if (!this.#isRunning) {
      this.#isRunning = true;
      this.#probableChunks = 0;
      this.#state.reset();
      for (let before = chunksBefore; before > 0; before--) this.#judge(before);
    }
    this.#judge(0);
  }

  /** Judges the chunk that is this many chunks before the last one. */
  #judge(before: number): void {
    const start = this.#chunkStart - before * chunkSamples;
    const probability = this.#network.judge(
      this.#samples.subarray(start - contextSamples, start),
      this.#samples.subarray(start, start + chunkSamples),
      this.#state,
    );
    if (this.#isSpeech) {
      this.#isSpeech = probability >= holdProbability;
      this.#probableChunks = 0;
      return;
    }
    this.#probableChunks = probability >= onsetProbability ? this.#probableChunks + 1 : 0;
    this.#isSpeech = this.#probableChunks >= onsetChunks;
  }
}
