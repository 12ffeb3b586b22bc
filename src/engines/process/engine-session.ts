import { Resampler } from "../../audio/resample.ts";
import { restoredSamples, savedSamples } from "../../audio/saved-samples.ts";
import { type Cut, UtteranceCutter } from "../../audio/utterance-cutter.ts";
import {
  type Decoder,
  type Effort,
  type Engine,
  engineSampleRate,
  type FullWork,
  type Hypothesis,
} from "../protocol/engine.ts";
import type { SessionOptions } from "../protocol/engine-frames.ts";
import { endUtterance, type Recognition, type SessionInput } from "../protocol/recognizer.ts";
import type { SessionCheckpoint } from "../protocol/session-checkpoint.ts";
import type { SessionEvents } from "../protocol/session-events.ts";
import { type ProgressOutput, SessionProgress } from "./session-progress.ts";
import { withoutPunctuation } from "./written-form.ts";
import { writtenHintsOf, type WrittenHints } from "./written-hints.ts";

/** The reports of a session to its process. */
export interface SessionOutput extends SessionEvents, ProgressOutput {
  done(): void;
}

/** The duration of audio in a slice. After each slice, other sessions get their turns. */
const sliceMs = 100;
const sliceSamples = (sliceMs * engineSampleRate) / 1000;
/**
 * The maximum number of seconds between commits during silence, which limits the input that has to
 * be kept.
 */
const commitSecondsMax = 10;
/** What follows a slice: more work immediately, or when the promise resolves. */
type Pause = "more" | Promise<void>;
const endInput = Symbol("end of input");
const nothing = new Int16Array(0);
const noFullWork: FullWork = { workMs: 0, audioSeconds: 0 };

/**
 * One recognition within an engine process: resampling, cutting into utterances, and decoding. Each
 * step() does one slice of the work, so that many sessions can take turns.
 */
export class EngineSession {
  readonly #engineName: string;
  readonly #options: SessionOptions;
  readonly #output: SessionOutput;
  readonly #decoder: Decoder;
  readonly #writtenHints: WrittenHints;
  readonly #resampler: Resampler;
  readonly #cutter: UtteranceCutter;
  readonly #input: (SessionInput | typeof endInput)[] = [];
  readonly #progress: SessionProgress;
  readonly #run: Generator<Pause | "wait", void, void>;
  #committedSamples = 0;
  #flushMarkers = 0;
  /** The effort of the next utterance. */
  #effort: Effort = "quick";
  /**
   * The number of resampled samples passed to the cutter, including samples that are still being
   * cut.
   */
  #cutSamples = 0;
  #spokenSamples = 0;
  #isFlushed = false;
  /** The start of the current utterance, in milliseconds. */
  #offsetMs = 0;
  #isSpeaking = false;
  #interimText: string | undefined;

  /** Opens a session. With a checkpoint, it continues where another session stopped. */
  constructor(
    engine: Engine,
    options: SessionOptions,
    output: SessionOutput,
    checkpoint?: SessionCheckpoint,
  ) {
    this.#engineName = engine.name;
    this.#options = options;
    this.#output = output;
    this.#progress = new SessionProgress(options, output, checkpoint?.position.samples);
    this.#resampler = new Resampler(options.sampleRateHertz);
    this.#cutter = new UtteranceCutter({
      voiceActivity: engine.createVoiceActivity(),
      silenceMsMin: options.silenceMsMin,
      utteranceMsMax: options.utteranceMsMax ?? engine.utteranceMsMax,
    });
    this.#decoder = engine.createDecoder(options);
    this.#writtenHints = writtenHintsOf(options.hints ?? []);
    const uncut = checkpoint ? this.#restore(checkpoint) : nothing;
    this.#run = this.#processAll(uncut);
  }

  /** The seconds of the stream that have been processed. */
  get processedSeconds(): number {
    return this.#progress.processedSamples / this.#options.sampleRateHertz;
  }

  /** Returns the minimum number of seconds that waited to be processed since the last call. */
  takeLeastQueuedSeconds(): number {
    return this.#progress.takeLeastQueuedSeconds();
  }

  /** The seconds of the stream within utterances. */
  get spokenSeconds(): number {
    return this.#spokenSamples / engineSampleRate;
  }

  /** The additional work of full effort. */
  get fullWork(): FullWork {
    return this.#decoder.fullWork ?? noFullWork;
  }

  push(input: SessionInput): void {
    if (input instanceof Int16Array) this.#progress.queue(input.length);
    this.#input.push(input);
  }

  endInput(): void {
    this.#input.push(endInput);
  }

  /**
   * Does one slice of work. Returns false if there is nothing to do until more input arrives, or a
   * promise if there is nothing to do until that resolves.
   */
  step(): boolean | Promise<void> {
    const { done, value } = this.#run.next();
    if (done || value === "wait") return false;
    return value === "more" ? true : value;
  }

  /** Ends the session, even in the middle of an utterance. */
  close(): void {
    this.#run.return();
    this.#decoder.close();
  }

  *#processAll(uncut: Int16Array): Generator<Pause | "wait", void, void> {
    yield* this.#cut(uncut);
    for (;;) {
      const input = this.#input.shift();
      if (input === undefined) yield this.#decoder.prepareEnd?.() === true ? "more" : "wait";
      else if (input === endInput) break;
      else if (input === endUtterance) yield* this.#flush();
      else if (input instanceof Int16Array) yield* this.#process(input);
      else this.#effort = input;
    }
    if (!this.#isFlushed) {
      this.#isFlushed = true;
      yield* this.#cut(this.#resampler.end());
    }
    yield* this.#apply(this.#cutter.endUtterance());
    this.#output.done();
  }

  *#flush(): Generator<Pause, void, void> {
    this.#flushMarkers += 1;
    const isWithinUtterance = this.#cutter.isWithinUtterance;
    yield* this.#apply(this.#cutter.endUtterance());
    // The commit reports that the marker has taken effect.
    if (!isWithinUtterance && this.#options.speechEvents === true) {
      this.#commit(undefined, nothing);
    }
  }

  *#process(input: Int16Array): Generator<Pause, void, void> {
    const sliceLength = Math.ceil((this.#options.sampleRateHertz * sliceMs) / 1000);
    for (let at = 0; at < input.length; at += sliceLength) {
      const slice = input.subarray(at, at + sliceLength);
      this.#progress.process(slice.length);
      yield* this.#cut(this.#resampler.push(slice));
      this.#progress.reportReceived();
      this.#progress.reportRecognized();
      this.#reportInterim();
      yield "more";
    }
  }

  *#cut(samples: Int16Array): Generator<Pause, void, void> {
    this.#cutSamples += samples.length;
    yield* this.#apply(this.#cutter.push(samples), samples);
    const uncommitted = this.#progress.processedSamples - this.#committedSamples;
    const isDue = uncommitted >= commitSecondsMax * this.#options.sampleRateHertz;
    if (isDue && !this.#cutter.isWithinUtterance) this.#commit(undefined, nothing);
  }

  /** Passes the cuts of these samples to the decoder. */
  *#apply(cuts: Iterable<Cut>, samples: Int16Array = nothing): Generator<Pause, void, void> {
    for (const cut of cuts) {
      switch (cut.kind) {
        case "begin":
          this.#offsetMs = msOfSamples(cut.startSample);
          this.#isSpeaking = true;
          this.#interimText = undefined;
          this.#decoder.begin(this.#effort);
          this.#reportEvent("start", this.#offsetMs);
          break;
        case "audio":
          yield* this.#accept(cut.samples);
          break;
        case "pause":
          this.#decoder.pause(msOfSamples(cut.samplesToEnd));
          yield* this.#work();
          break;
        case "end": {
          this.#reportEvent("end", msOfSamples(cut.endSample));
          const final = yield* this.#endUtterance(msOfSamples(cut.endSample));
          const uncutLength = this.#cutSamples - cut.endSample;
          this.#commit(final, samples.subarray(samples.length - uncutLength));
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
      this.#progress.accept(slice.length);
      yield* this.#work();
    }
  }

  /** Lets the decoder process its samples. */
  *#work(): Generator<Pause, void, void> {
    for (let work = this.#decoder.work(); work !== false; work = this.#decoder.work()) {
      this.#progress.decode(sliceSamples);
      yield work === true ? "more" : work;
    }
  }

  *#endUtterance(audioEndMs: number): Generator<Pause, Recognition | undefined, void> {
    this.#isSpeaking = false;
    const slices = this.#decoder.end();
    try {
      let slice = slices.next();
      for (; !slice.done; slice = slices.next()) {
        this.#progress.decode(sliceSamples);
        yield slice.value ?? "more";
      }
      this.#progress.decode();
      const bytes = this.#options.keepsOutputs ? this.#decoder.takeOutputs?.() : undefined;
      if (bytes) this.#output.outputs?.({ startMs: this.#offsetMs, bytes });
      const readings = this.#written(slice.value);
      if (readings.length === 0) return undefined;
      const { effort } = this.#decoder;
      const final = this.#recognition(true, readings, audioEndMs);
      return effort ? { ...final, effort } : final;
    } finally {
      slices.return([]);
    }
  }

  #commit(final: Recognition | undefined, uncut: Int16Array): void {
    this.#committedSamples = this.#progress.processedSamples;
    const checkpoint = {
      position: { samples: this.#progress.processedSamples, flushMarkers: this.#flushMarkers },
      resampler: this.#resampler.save(),
      cutter: this.#cutter.save(),
      decoder: { engine: this.#engineName, state: this.#decoder.save() },
      effort: this.#effort,
      uncut: savedSamples(uncut),
      isFlushed: this.#isFlushed,
    };
    this.#output.committed(final ? { final, checkpoint } : { checkpoint });
  }

  /** Restores the state from a checkpoint. Returns the samples that are still to be cut. */
  #restore(checkpoint: SessionCheckpoint): Int16Array {
    this.#committedSamples = checkpoint.position.samples;
    this.#flushMarkers = checkpoint.position.flushMarkers;
    this.#resampler.restore(checkpoint.resampler);
    this.#cutter.restore(checkpoint.cutter);
    // The state of one engine is of no use to another.
    if (checkpoint.decoder.engine === this.#engineName) {
      this.#decoder.restore(checkpoint.decoder.state);
    }
    this.#cutSamples = checkpoint.cutter.position + restoredSamples(checkpoint.cutter.frame).length;
    this.#effort = checkpoint.effort;
    this.#isFlushed = checkpoint.isFlushed;
    return restoredSamples(checkpoint.uncut);
  }

  #reportInterim(): void {
    if (!this.#options.interim || !this.#isSpeaking) return;
    const reading = this.#decoder.partial();
    const [partial] = reading ? this.#written([reading]) : [];
    if (!partial || partial.text === this.#interimText) return;
    this.#interimText = partial.text;
    this.#output.interim(this.#recognition(false, [partial], this.#progress.processedMs));
  }

  #reportEvent(speechEvent: "start" | "end", audioEndMs: number): void {
    if (this.#options.speechEvents !== true) return;
    this.#output.speechEvent?.({ isFinal: false, alternatives: [], audioEndMs, speechEvent });
  }

  /** Returns the readings in the written form that the client requested. */
  #written(readings: readonly Hypothesis[]): readonly Hypothesis[] {
    const plain = this.#options.punctuation ? readings : withoutPunctuation(readings);
    return this.#writtenHints.write(plain);
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
