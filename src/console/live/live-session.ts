import { keepSpokenLanguage } from "../api/spoken-language.ts";
import { noteUnsaved } from "../api/unsaved-work.ts";
import { Delays } from "./delays.ts";
import { LiveRecognition } from "./live-recognition.ts";
import { LiveRecording } from "./live-recording.ts";
import { loadStreamsOf } from "./load-streams.ts";
import { Loudness } from "./loudness.ts";
import type { LeftRecording } from "./left-recordings.ts";
import type { LiveStreams } from "./live-streams.ts";
import { idleState, type LiveState } from "./live-state.ts";
import { type Chunk, type Microphone, MicrophoneError, openMicrophone } from "./microphone.ts";
import { RecordingKeeper } from "./recording-keeper.ts";
import { type Draft, TranscriptSaving } from "./save-transcript.ts";
import {
  finalized,
  nothingSpoken,
  type SpokenWord,
  type Utterance,
  withFinal,
  withInterim,
  withoutLast,
} from "./spoken.ts";

/** The maximum length of a recording: 1.4 GB of audio at 48 kHz, which browsers store on disk. */
const recordingSecondsMax = 4 * 3600;

/** The language until the page sets a different language. */
const languageDefault = "en-US";

/**
 * A live recording: a microphone, the recorded audio, and the words that the service recognized. It
 * outlives the page that shows it, so that nothing is lost when that page is closed because the
 * user's session has ended.
 */
export class LiveSession {
  /** Loads what recognizes the recording. Another call loads it again if that failed. */
  readonly loadStreams: () => Promise<LiveStreams>;
  readonly #owner: string;
  readonly #listeners = new Set<() => void>();
  readonly #loudness = new Loudness();
  #state = idleState(languageDefault);
  #recording: LiveRecording | undefined;
  #recognition: LiveRecognition | undefined;
  #keeper: RecordingKeeper | undefined;
  #microphone: Microphone | undefined;
  #delays = new Delays();
  #saving: TranscriptSaving;
  #isLanguageChosen = false;
  /** Ends the note that something is not saved. */
  #noteSaved: (() => void) | undefined;
  /** Whether another microphone is to be opened as soon as the current one is closed. */
  #isChanging = false;
  /**
   * The number of starts and stops so far. It shows whether a microphone has opened too late and
   * must be closed again.
   */
  #generation = 0;

  /**
   * `owner` is the user who speaks (identityOf), and `isSignedIn` returns whether that user is
   * still signed in.
   */
  constructor(owner: string, isSignedIn: () => boolean) {
    this.#owner = owner;
    this.loadStreams = loadStreamsOf(owner, isSignedIn);
    this.#saving = new TranscriptSaving(owner);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): LiveState => this.#state;

  /** Calls the listener with the loudness, 0 to 1, of each captured chunk. */
  readonly onLevel = this.#loudness.subscribe;

  /**
   * Sets the language, unless recording has started. A guess does not replace the user's choice.
   */
  setLanguage(languageCode: string, by: "choice" | "guess"): void {
    if (this.#recording || (by === "guess" && this.#isLanguageChosen)) return;
    this.#isLanguageChosen ||= by === "choice";
    if (languageCode !== this.#state.languageCode) this.#change({ languageCode });
  }

  /** Starts listening, or resumes after a stop. Problems are reported in the state. */
  async start(): Promise<void> {
    const { phase, savedName } = this.#state;
    if ((phase !== "idle" && phase !== "stopped") || savedName !== undefined) return;
    this.#generation += 1;
    const generation = this.#generation;
    this.#change({ phase: "opening", problem: undefined, pause: undefined });
    const { deviceId } = this.#state;
    try {
      const microphone = await openMicrophone(
        { deviceId, rate: this.#recording?.rate },
        {
          onChunk: (chunk) => {
            if (generation === this.#generation) this.#take(chunk);
          },
          onGone: () => void this.stop("gone"),
          onPause: (pause) => this.#change({ pause }),
        },
      );
      if (generation !== this.#generation) {
        await microphone.close();
        return;
      }
      this.#microphone = microphone;
      this.#record(microphone.rate);
      if (this.#isLanguageChosen) keepSpokenLanguage(this.#state.languageCode);
      this.#change({ phase: "listening", deviceId: deviceId ?? microphone.deviceId });
    } catch (error) {
      if (generation !== this.#generation) return;
      const problem = error instanceof MicrophoneError ? error.problem : "broken";
      // The next attempt uses any microphone.
      if (problem === "missing") this.#change({ deviceId: undefined });
      this.#change({ phase: this.#recording ? "stopped" : "idle", problem });
    }
  }

  /**
   * Stops listening. Resolves when everything has been recognized, if the service can be reached.
   */
  async stop(problem?: "gone" | "full"): Promise<void> {
    if (this.#state.phase === "opening") {
      this.#generation += 1;
      this.#change({ phase: this.#recording ? "stopped" : "idle" });
      return;
    }
    this.#isChanging = false;
    const microphone = this.#microphone;
    if (!microphone) return;
    const generation = this.#generation;
    this.#microphone = undefined;
    this.#change({ phase: "closing", problem });
    const lostSeconds = this.#state.lostSeconds + (await microphone.close()) / microphone.rate;
    // The recording was discarded in the meantime, so there is nothing to end.
    if (generation !== this.#generation) return;
    this.#recording?.end();
    this.#keeper?.flush();
    this.#change({ phase: "stopped", pause: undefined, lostSeconds, ...this.#amounts() });
    await this.#recognition?.done();
  }

  /** Switches to another microphone, even while listening. */
  async choose(deviceId: string): Promise<void> {
    this.#change({ deviceId });
    if (this.#state.phase !== "listening") return;
    void this.stop();
    this.#isChanging = true;
    await this.#until(({ phase }) => phase === "stopped" || phase === "idle");
    // The user may have stopped or left the page in the meantime.
    if (this.#isChanging) await this.start();
  }

  /** Resumes listening after the browser has stopped it. */
  async resume(): Promise<void> {
    await this.#microphone?.resume();
  }

  /** Starts another attempt to reach the service now. */
  retry(): void {
    this.#recognition?.retry();
  }

  /**
   * Saves the text and the audio, and returns `transcripts/<id>`. After a failure, another call
   * continues where the failed call stopped. Throws ApiError, or the reason of `signal`.
   */
  async save(subject: string, options: Parameters<TranscriptSaving["save"]>[2]): Promise<string> {
    const recording = this.#recording;
    if (!recording) throw new Error("nothing was recorded");
    await this.#recognition?.stop();
    const { languageCode, spoken } = this.#state;
    // Everything shown is saved, including interim results that will not become final.
    const utterances = finalized(spoken).paragraphs.flat();
    const draft: Draft = { subject, languageCode, utterances };
    try {
      return await this.#saving.save(draft, recording, options);
    } finally {
      this.#change({ savedName: this.#saving.name });
      if (this.#saving.name === undefined) this.#recognition?.start();
    }
  }

  /** Continues with a recording that was left, unless there is one already. */
  async restore(left: LeftRecording): Promise<void> {
    if (this.#recording || this.#state.phase !== "idle") return;
    const { id, rate, languageCode, startedAtMs } = left.recording;
    this.#change({ phase: "opening", languageCode });
    const generation = this.#generation;
    try {
      const { audio, words } = await left.read();
      if (generation !== this.#generation) return;
      const recording = new LiveRecording(rate, audio);
      const spoken = words.reduce(withFinal, nothingSpoken);
      this.#noteSaved = left.take();
      this.#saving = new TranscriptSaving(this.#owner, id);
      const utterances = spoken.paragraphs.flat();
      const endMs = utterances.at(-1)?.words.at(-1)?.endMs ?? 0;
      this.#recording = recording;
      this.#keep({ startedAtMs, stored: { length: recording.length, utterances } });
      this.#loudness.startAt(recording.seconds);
      recording.end();
      this.#change({ phase: "stopped", spoken });
      const position = Math.min(recording.length, Math.round((endMs * rate) / 1000));
      this.#recognize(recording, position);
      this.#change(this.#amounts());
    } catch (error) {
      this.#change({ phase: "idle" });
      throw error;
    }
  }

  /** Stops listening and discards everything. */
  discard(): void {
    this.#generation += 1;
    this.#isChanging = false;
    void this.#microphone?.close();
    this.#microphone = undefined;
    this.#recording?.end();
    void this.#recognition?.stop();
    this.#recognition = undefined;
    this.#recording = undefined;
    this.#keeper?.drop();
    this.#keeper = undefined;
    this.#noteSaved?.();
    this.#noteSaved = undefined;
    this.#delays = new Delays();
    this.#saving = new TranscriptSaving(this.#owner);
    this.#loudness.startAt(0);
    const { languageCode, deviceId } = this.#state;
    this.#change({ ...idleState(languageCode), deviceId });
  }

  /**
   * Records that the page has shown all words that have arrived since `at`, in ms of Date.now();
   * undefined if the page is not visible.
   */
  readonly wasShown = (at: number | undefined): void => {
    const isChanged = this.#delays.allShown(at);
    const { word, sentence } = this.#delays;
    if (isChanged) this.#change({ word, sentence });
  };

  #record(rate: number): void {
    const recording = this.#recording ?? new LiveRecording(rate);
    this.#recording = recording;
    this.#noteSaved ??= noteUnsaved(this.#owner, "recording", this.#saving.id);
    if (!this.#keeper) {
      this.#keep({ startedAtMs: Date.now(), stored: { length: 0, utterances: [] } });
    }
    recording.resume();
    this.#recognize(recording, 0);
  }

  /** Stores the recording in the browser from now on. */
  #keep({
    startedAtMs,
    stored,
  }: {
    readonly startedAtMs: number;
    readonly stored: { readonly length: number; readonly utterances: readonly Utterance[] };
  }): void {
    const { languageCode } = this.#state;
    const rate = this.#recording?.rate ?? 0;
    const facts = { id: this.#saving.id, owner: this.#owner, rate, languageCode, startedAtMs };
    this.#keeper = new RecordingKeeper(facts, stored, () => this.#change({ isUnstored: true }));
  }

  /** Recognizes the recording, from `position` on if nothing of it has been recognized here. */
  #recognize(recording: LiveRecording, position: number): void {
    this.#recognition ??= new LiveRecognition(recording, {
      loadStreams: this.loadStreams,
      languageCode: this.#state.languageCode,
      position,
      events: {
        onWords: (words, isFinal) => this.#addWords(words, isFinal),
        onRetract: () => {
          this.#change({ spoken: withoutLast(this.#state.spoken) });
          this.#keeper?.setUtterances(this.#state.spoken.paragraphs.flat());
        },
        onConnection: (connection) => {
          const isChanged = connection.kind !== this.#state.connection.kind;
          if (isChanged || "error" in connection) this.#change({ connection });
        },
      },
    });
    this.#recognition.start();
  }

  #take({ samples, endAt }: Chunk): void {
    const recording = this.#recording;
    if (!recording) return;
    recording.push(samples);
    this.#keeper?.add(samples);
    this.#delays.captured(1000 * recording.seconds, endAt);
    const isSilent = this.#loudness.measure(samples, recording.seconds);
    const amounts = this.#amounts();
    const { seconds, unsentSeconds } = this.#state;
    const isChanged = amounts.seconds !== seconds || amounts.unsentSeconds !== unsentSeconds;
    if (isChanged || isSilent !== this.#state.isSilent) this.#change({ ...amounts, isSilent });
    if (recording.seconds >= recordingSecondsMax) void this.stop("full");
  }

  #amounts(): Pick<LiveState, "seconds" | "unsentSeconds" | "bytes"> {
    const { seconds = 0, bytes = 0 } = this.#recording ?? {};
    const unsentSeconds = Math.floor(this.#recognition?.unsentSeconds ?? 0);
    return { seconds: Math.floor(seconds), unsentSeconds, bytes };
  }

  #addWords(words: readonly SpokenWord[], isFinal: boolean): void {
    const { spoken } = this.#state;
    this.#delays.arrived(words, isFinal);
    const next = isFinal ? withFinal(spoken, words) : withInterim(spoken, words);
    this.#change({ spoken: next, ...this.#amounts() });
    if (isFinal) this.#keeper?.setUtterances(next.paragraphs.flat());
  }

  #until(isReached: (state: LiveState) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.subscribe(() => {
        if (!isReached(this.#state)) return;
        stop();
        resolve();
      });
    });
  }

  #change(changes: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of this.#listeners) listener();
  }
}

const sessions = new Map<string, LiveSession>();

/**
 * Returns the live session of a user in an account. Other users of the same browser have their own
 * sessions.
 */
export function liveSessionOf(owner: string, isSignedIn: () => boolean): LiveSession {
  const session = sessions.get(owner) ?? new LiveSession(owner, isSignedIn);
  sessions.set(owner, session);
  return session;
}
