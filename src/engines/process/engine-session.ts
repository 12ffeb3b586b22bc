import { Resampler } from "../../audio/resample.ts";
import { restoredSamples, savedSamples } from "../../audio/saved-samples.ts";
import { type Cut, UtteranceCutter } from "../../audio/utterance-cutter.ts";
import {
  type Decoder,
  type Engine,
  engineSampleRate,
  type Hypothesis,
} from "../protocol/engine.ts";
import type { SessionOptions } from "../protocol/engine-frames.ts";
import { endUtterance, type Recognition, type RecognitionInput } from "../protocol/recognizer.ts";
import type { SessionCheckpoint, Settled } from "../protocol/session-checkpoint.ts";
import { withoutPunctuation } from "./written-form.ts";

/** Where a session's answers go. */
export interface SessionEvents {
  interim(recognition: Recognition): void;
  settled(settled: Settled): void;
  /** So many samples of the input, since this was last told, are done with. */
  heard(samples: number): void;
  /** Of jobs: so many samples of the stream are recognized, from its start. */
  recognized?(samples: number): void;
  done(): void;
}

/** Audio heard between two turns of other sessions. */
const sliceMs = 100;
const sliceSamples = (sliceMs * engineSampleRate) / 1000;
/** What was heard is told in parts of this length: telling each chunk costs as much as its text. */
const toldSeconds = 0.5;
/**
 * In silence a checkpoint comes this often, so that what has to be kept of the input has a bound.
 */
const settledSecondsMax = 10;
/** Between two slices: there is more to do, at once or when a promise resolves. */
type Pause = "more" | Promise<void>;
const endInput = Symbol("end of input");
const nothing = new Int16Array(0);

/**
 * One recognition within an engine process: resampling, cutting into utterances, decoding. It works
 * when it is told to, a slice at a time, so that many take turns.
 */
export class EngineSession {
  readonly #engineName: string;
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  readonly #decoder: Decoder;
  readonly #resampler: Resampler;
  readonly #cutter: UtteranceCutter;
  readonly #input: (RecognitionInput | typeof endInput)[] = [];
  readonly #run: Generator<Pause | "wait", void, void>;
  /** Samples at the session's own rate. */
  #heardSamples = 0;
  #queuedSamples = 0;
  #leastQueuedSamples = 0;
  #toldSamples = 0;
  #recognizedSamples = 0;
  /**
   * Resampled samples of the current utterance that the decoder has taken and not looked at, as far
   * as can be told.
   */
  #waitingSamples = 0;
  #settledSamples = 0;
  #marks = 0;
  /** Resampled samples that the cutter was given, with those that it is being given. */
  #cutSamples = 0;
  #spokenSamples = 0;
  #isFlushed = false;
  /** Of the current utterance. */
  #offsetMs = 0;
  #isSpeaking = false;
  #interimText: string | undefined;

  /** With a checkpoint, it goes on where another one stood. */
  constructor(
    engine: Engine,
    options: SessionOptions,
    events: SessionEvents,
    checkpoint?: SessionCheckpoint,
  ) {
    this.#engineName = engine.name;
    this.#options = options;
    this.#events = events;
    this.#resampler = new Resampler(options.sampleRateHertz);
    this.#cutter = new UtteranceCutter({
      voiceActivity: engine.createVoiceActivity(),
      silenceMsMin: options.silenceMsMin,
      utteranceMsMax: options.utteranceMsMax ?? engine.utteranceMsMax,
    });
    this.#decoder = engine.createDecoder(options);
    const uncut = checkpoint ? this.#restore(checkpoint) : nothing;
    this.#run = this.#hearAll(uncut);
  }

  /** Seconds of the stream heard by this session so far. */
  get heardSeconds(): number {
    return this.#heardSamples / this.#options.sampleRateHertz;
  }

  /**
   * Seconds that were given and not heard yet, at the least since this was last asked: what has
   * only just come is not late.
   */
  takeLeastQueuedSeconds(): number {
    const least = this.#leastQueuedSamples;
    this.#leastQueuedSamples = this.#queuedSamples;
    return least / this.#options.sampleRateHertz;
  }

  /** Seconds of the stream that lay within utterances. */
  get spokenSeconds(): number {
    return this.#spokenSamples / engineSampleRate;
  }

  push(input: RecognitionInput): void {
    if (input !== endUtterance) this.#queuedSamples += input.length;
    this.#input.push(input);
  }

  endInput(): void {
    this.#input.push(endInput);
  }

  /**
   * Works for one slice; false when there is nothing more to do until there is input, a promise
   * when there is not before it resolves.
   */
  step(): boolean | Promise<void> {
    const { done, value } = this.#run.next();
    if (done || value === "wait") return false;
    return value === "more" ? true : value;
  }

  /** Ends the session wherever it is. */
  close(): void {
    this.#run.return();
    this.#decoder.close();
  }

  *#hearAll(uncut: Int16Array): Generator<Pause | "wait", void, void> {
    yield* this.#cut(uncut);
    for (;;) {
      const input = this.#input.shift();
      if (input === undefined) yield "wait";
      else if (input === endInput) break;
      else if (input === endUtterance) yield* this.#mark();
      else yield* this.#hear(input);
    }
    if (!this.#isFlushed) {
      this.#isFlushed = true;
      yield* this.#cut(this.#resampler.end());
    }
    yield* this.#follow(this.#cutter.endUtterance());
    this.#events.done();
  }

  *#mark(): Generator<Pause, void, void> {
    this.#marks += 1;
    yield* this.#follow(this.#cutter.endUtterance());
  }

  *#hear(input: Int16Array): Generator<Pause, void, void> {
    const sliceLength = Math.ceil((this.#options.sampleRateHertz * sliceMs) / 1000);
    for (let at = 0; at < input.length; at += sliceLength) {
      const slice = input.subarray(at, at + sliceLength);
      this.#queuedSamples -= slice.length;
      this.#leastQueuedSamples = Math.min(this.#leastQueuedSamples, this.#queuedSamples);
      this.#heardSamples += slice.length;
      yield* this.#cut(this.#resampler.push(slice));
      this.#tellHeard();
      this.#tellRecognized();
      this.#tellInterim();
      yield "more";
    }
  }

  *#cut(samples: Int16Array): Generator<Pause, void, void> {
    this.#cutSamples += samples.length;
    yield* this.#follow(this.#cutter.push(samples), samples);
    const unsettled = this.#heardSamples - this.#settledSamples;
    const isDue = unsettled >= settledSecondsMax * this.#options.sampleRateHertz;
    if (isDue && !this.#cutter.isWithinUtterance) this.#settle(undefined, nothing);
  }

  /** Does what the cutter says of these samples. */
  *#follow(cuts: Iterable<Cut>, samples: Int16Array = nothing): Generator<Pause, void, void> {
    for (const cut of cuts) {
      switch (cut.kind) {
        case "begin":
          this.#offsetMs = msOfSamples(cut.startSample);
          this.#isSpeaking = true;
          this.#interimText = undefined;
          this.#decoder.begin();
          break;
        case "audio":
          yield* this.#accept(cut.samples);
          break;
        case "pause":
          this.#decoder.pause(msOfSamples(cut.samplesToEnd));
          yield* this.#work();
          break;
        case "end": {
          const final = yield* this.#endUtterance(msOfSamples(cut.endSample));
          const uncutLength = this.#cutSamples - cut.endSample;
          this.#settle(final, samples.subarray(samples.length - uncutLength));
          break;
        }
      }
    }
  }

  *#accept(samples: Int16Array): Generator<Pause, void, void> {
    this.#spokenSamples += samples.length;
    for (let at = 0; at < samples.length; at += sliceSamples) {
      if (at > 0) yield "more";
      const slice = samples.subarray(at, at + sliceSamples);
      this.#decoder.accept(slice);
      this.#waitingSamples += slice.length;
      yield* this.#work();
    }
  }

  /** Lets the decoder hear what it was given. */
  *#work(): Generator<Pause, void, void> {
    for (let work = this.#decoder.work(); work !== false; work = this.#decoder.work()) {
      this.#endSlice();
      yield work === true ? "more" : work;
    }
  }

  *#endUtterance(audioEndMs: number): Generator<Pause, Recognition | undefined, void> {
    this.#isSpeaking = false;
    const slices = this.#decoder.end();
    try {
      let slice = slices.next();
      for (; !slice.done; slice = slices.next()) {
        this.#endSlice();
        yield slice.value ?? "more";
      }
      this.#waitingSamples = 0;
      this.#tellRecognized();
      const readings = this.#written(slice.value);
      if (readings.length === 0) return undefined;
      return this.#recognition(true, readings, audioEndMs);
    } finally {
      slices.return([]);
    }
  }

  #settle(final: Recognition | undefined, uncut: Int16Array): void {
    this.#settledSamples = this.#heardSamples;
    const checkpoint = {
      position: { samples: this.#heardSamples, marks: this.#marks },
      resampler: this.#resampler.save(),
      cutter: this.#cutter.save(),
      decoder: { engine: this.#engineName, state: this.#decoder.save() },
      uncut: savedSamples(uncut),
      isFlushed: this.#isFlushed,
    };
    this.#events.settled(final ? { final, checkpoint } : { checkpoint });
  }

  /** Returns what is still to be cut. */
  #restore(checkpoint: SessionCheckpoint): Int16Array {
    this.#heardSamples = checkpoint.position.samples;
    this.#toldSamples = this.#heardSamples;
    this.#settledSamples = this.#heardSamples;
    this.#marks = checkpoint.position.marks;
    this.#resampler.restore(checkpoint.resampler);
    this.#cutter.restore(checkpoint.cutter);
    // Another engine has come in its place: what one has learnt tells the other nothing.
    if (checkpoint.decoder.engine === this.#engineName) {
      this.#decoder.restore(checkpoint.decoder.state);
    }
    this.#cutSamples = checkpoint.cutter.position + restoredSamples(checkpoint.cutter.frame).length;
    this.#isFlushed = checkpoint.isFlushed;
    return restoredSamples(checkpoint.uncut);
  }

  #tellHeard(): void {
    const untold = this.#heardSamples - this.#toldSamples;
    if (untold < this.#options.sampleRateHertz * toldSeconds) return;
    this.#toldSamples = this.#heardSamples;
    this.#events.heard(untold);
  }

  /** The decoder has done a slice of its work: a hundred milliseconds, or less. */
  #endSlice(): void {
    this.#waitingSamples = Math.max(0, this.#waitingSamples - sliceSamples);
    this.#tellRecognized();
  }

  #tellRecognized(): void {
    const { mode, sampleRateHertz } = this.#options;
    if (mode !== "job") return;
    const waiting = Math.ceil((this.#waitingSamples * sampleRateHertz) / engineSampleRate);
    const recognized = this.#heardSamples - waiting;
    if (recognized - this.#recognizedSamples < sampleRateHertz * toldSeconds) return;
    this.#recognizedSamples = recognized;
    this.#events.recognized?.(recognized);
  }

  #tellInterim(): void {
    if (!this.#options.interim || !this.#isSpeaking) return;
    const heard = this.#decoder.partial();
    const [partial] = heard ? this.#written([heard]) : [];
    if (!partial || partial.text === this.#interimText) return;
    this.#interimText = partial.text;
    const audioEndMs = Math.floor((this.#heardSamples * 1000) / this.#options.sampleRateHertz);
    this.#events.interim(this.#recognition(false, [partial], audioEndMs));
  }

  /** What the caller wants to read of what was heard. */
  #written(readings: readonly Hypothesis[]): readonly Hypothesis[] {
    return this.#options.punctuation ? readings : withoutPunctuation(readings);
  }

  #recognition(isFinal: boolean, readings: readonly Hypothesis[], audioEndMs: number): Recognition {
    const alternatives = readings.map((reading) => ({
      ...reading,
      words: reading.words.map((word) => ({
        ...word,
        startMs: this.#offsetMs + Math.round(word.startMs),
        endMs: this.#offsetMs + Math.round(word.endMs),
      })),
    }));
    return { isFinal, alternatives, audioEndMs };
  }
}

function msOfSamples(samples: number): number {
  return Math.round((samples * 1000) / engineSampleRate);
}
