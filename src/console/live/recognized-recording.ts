import { LiveRecognition, type RecognitionEvents } from "./live-recognition.ts";
import { LiveRecording } from "./live-recording.ts";
import type { LiveState } from "./live-state.ts";
import type { LiveStreams } from "./live-streams.ts";
import { RecordingKeeper } from "./recording-keeper.ts";
import type { RecordingFacts } from "./recording-store.ts";
import type { Utterance } from "./spoken.ts";

/** What a browser has of a recording that was left. */
interface LeftParts {
  readonly audio: readonly Blob[];
  /** The final results of the audio. */
  readonly utterances: readonly Utterance[];
}

/** A recording that is recognized by the service and stored in this browser while it grows. */
export class RecognizedRecording {
  readonly audio: LiveRecording;
  readonly #recognition: LiveRecognition;
  readonly #keeper: RecordingKeeper;

  constructor(
    facts: RecordingFacts,
    options: {
      /** Loads what streams need; may be tried again. */
      readonly loadStreams: () => Promise<LiveStreams>;
      readonly events: RecognitionEvents;
      /** Called when the browser stores no more of the recording. */
      readonly onUnstored: () => void;
      /** What the browser has already. Default: nothing. */
      readonly left?: LeftParts;
    },
  ) {
    const { loadStreams, events, onUnstored } = options;
    const { audio, utterances } = options.left ?? { audio: [], utterances: [] };
    const { rate, languageCode } = facts;
    this.audio = new LiveRecording(rate, audio);
    const { length } = this.audio;
    this.#keeper = new RecordingKeeper(facts, { length, utterances }, onUnstored);
    const endMs = utterances.at(-1)?.words.at(-1)?.endMs ?? 0;
    const position = Math.min(length, Math.round((endMs * rate) / 1000));
    const own = { loadStreams, languageCode, events, position };
    this.#recognition = new LiveRecognition(this.audio, own);
  }

  /** The amounts that the page shows. */
  get amounts(): Pick<LiveState, "seconds" | "unsentSeconds" | "bytes"> {
    const { seconds, bytes } = this.audio;
    const unsentSeconds = Math.floor(this.#recognition.unsentSeconds);
    return { seconds: Math.floor(seconds), unsentSeconds, bytes };
  }

  /** Adds audio, which the caller does not change any more. */
  push(samples: Int16Array<ArrayBuffer>): void {
    this.audio.push(samples);
    this.#keeper.add(samples);
  }

  /** Stores all final results. */
  setUtterances(utterances: readonly Utterance[]): void {
    this.#keeper.setUtterances(utterances);
  }

  /** No audio follows until resume(). */
  end(): void {
    this.audio.end();
    this.#keeper.flush();
  }

  /** More audio follows, and all of it is recognized. */
  resume(): void {
    this.audio.resume();
    this.recognize();
  }

  /** Recognizes what has no final result, until all of it has one. */
  recognize(): void {
    this.#recognition.start();
  }

  async stopRecognizing(): Promise<void> {
    await this.#recognition.stop();
  }

  /** Resolves when everything has been recognized, if the service can be reached. */
  async recognized(): Promise<void> {
    await this.#recognition.done();
  }

  /** Starts another attempt to reach the service now. */
  retry(): void {
    this.#recognition.retry();
  }

  /** Ends everything, and deletes what this browser has stored. */
  drop(): void {
    this.audio.end();
    void this.#recognition.stop();
    this.#keeper.drop();
  }
}
