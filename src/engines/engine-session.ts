import { Resampler } from "../audio/resample.ts";
import { type Cut, UtteranceCutter } from "../audio/utterance-cutter.ts";
import { type Decoder, type Engine, engineSampleRate, type Hypothesis } from "./engine.ts";
import type { SessionOptions } from "./engine-frames.ts";
import { endUtterance, type Recognition, type RecognitionInput } from "./recognizer.ts";

/** Where a session's answers go. */
export interface SessionEvents {
  result(recognition: Recognition): void;
  /** So many samples of the input, since this was last told, are done with. */
  heard(samples: number): void;
  done(): void;
}

/** Audio heard between two turns of other sessions. */
const sliceMs = 100;
const sliceSamples = (sliceMs * engineSampleRate) / 1000;
/** What was heard is told in parts of this length: telling each chunk costs as much as its text. */
const toldSeconds = 0.5;
const endInput = Symbol("end of input");

/**
 * One recognition within an engine process: resampling, cutting into utterances, decoding. It works when it is told to, a
 * slice at a time, so that many take turns.
 */
export class EngineSession {
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  readonly #decoder: Decoder;
  readonly #resampler: Resampler;
  readonly #cutter: UtteranceCutter;
  readonly #input: (RecognitionInput | typeof endInput)[] = [];
  readonly #work: Generator<"more" | "wait", void, void>;
  /** Samples at the session's own rate. */
  #heardSamples = 0;
  #toldSamples = 0;
  /** Of the current utterance. */
  #offsetMs = 0;
  #isSpeaking = false;
  #interimText: string | undefined;

  constructor(engine: Engine, options: SessionOptions, events: SessionEvents) {
    this.#options = options;
    this.#events = events;
    this.#resampler = new Resampler(options.sampleRateHertz);
    this.#cutter = new UtteranceCutter({
      voiceActivity: engine.createVoiceActivity(),
      silenceMsMin: options.silenceMsMin,
      utteranceMsMax: options.utteranceMsMax ?? engine.utteranceMsMax,
    });
    this.#decoder = engine.createDecoder(options);
    this.#work = this.#run();
  }

  push(input: RecognitionInput): void {
    this.#input.push(input);
  }

  endInput(): void {
    this.#input.push(endInput);
  }

  /** Works for one slice; false when there is nothing more to do until there is input. */
  step(): boolean {
    const { done, value } = this.#work.next();
    return !done && value === "more";
  }

  /** Ends the session wherever it is. */
  close(): void {
    this.#work.return();
    this.#decoder.close();
  }

  *#run(): Generator<"more" | "wait", void, void> {
    for (;;) {
      const input = this.#input.shift();
      if (input === undefined) yield "wait";
      else if (input === endInput) break;
      else if (input === endUtterance) yield* this.#follow(this.#cutter.endUtterance());
      else yield* this.#hear(input);
    }
    yield* this.#follow(this.#cutter.push(this.#resampler.end()));
    yield* this.#follow(this.#cutter.endUtterance());
    this.#events.done();
  }

  *#hear(input: Int16Array): Generator<"more", void, void> {
    const sliceLength = Math.ceil((this.#options.sampleRateHertz * sliceMs) / 1000);
    for (let at = 0; at < input.length; at += sliceLength) {
      const slice = input.subarray(at, at + sliceLength);
      yield* this.#follow(this.#cutter.push(this.#resampler.push(slice)));
      this.#heardSamples += slice.length;
      this.#tellHeard();
      this.#tellInterim();
      yield "more";
    }
  }

  *#follow(cuts: Iterable<Cut>): Generator<"more", void, void> {
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
        case "end":
          yield* this.#endUtterance(msOfSamples(cut.endSample));
          break;
      }
    }
  }

  *#accept(samples: Int16Array): Generator<"more", void, void> {
    for (let at = 0; at < samples.length; at += sliceSamples) {
      if (at > 0) yield "more";
      this.#decoder.accept(samples.subarray(at, at + sliceSamples));
    }
  }

  *#endUtterance(audioEndMs: number): Generator<"more", void, void> {
    this.#isSpeaking = false;
    const slices = this.#decoder.end();
    try {
      let slice = slices.next();
      for (; !slice.done; slice = slices.next()) yield "more";
      if (slice.value.length > 0) this.#tell(true, slice.value, audioEndMs);
    } finally {
      slices.return([]);
    }
  }

  #tellHeard(): void {
    const untold = this.#heardSamples - this.#toldSamples;
    if (untold < this.#options.sampleRateHertz * toldSeconds) return;
    this.#toldSamples = this.#heardSamples;
    this.#events.heard(untold);
  }

  #tellInterim(): void {
    if (!this.#options.interim || !this.#isSpeaking) return;
    const partial = this.#decoder.partial();
    if (!partial || partial.text === this.#interimText) return;
    this.#interimText = partial.text;
    const audioEndMs = Math.floor((this.#heardSamples * 1000) / this.#options.sampleRateHertz);
    this.#tell(false, [partial], audioEndMs);
  }

  #tell(isFinal: boolean, readings: readonly Hypothesis[], audioEndMs: number): void {
    const alternatives = readings.map((reading) => ({
      ...reading,
      words: reading.words.map((word) => ({
        ...word,
        startMs: this.#offsetMs + Math.round(word.startMs),
        endMs: this.#offsetMs + Math.round(word.endMs),
      })),
    }));
    this.#events.result({ isFinal, alternatives, audioEndMs });
  }
}

function msOfSamples(samples: number): number {
  return Math.round((samples * 1000) / engineSampleRate);
}
