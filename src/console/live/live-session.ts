import { keepSpokenLanguage } from "../api/spoken-language.ts";
import { noteUnsaved } from "../api/unsaved-work.ts";
import { Delays } from "./delays.ts";
import { loadStreamsOf } from "./load-streams.ts";
import { Loudness } from "./loudness.ts";
import type { LeftRecording } from "./left-recordings.ts";
import type { LiveStreams } from "./live-streams.ts";
import { idleState, type LiveState } from "./live-state.ts";
import { type Chunk, type Microphone, MicrophoneError, openMicrophone } from "./microphone.ts";
import { RecognizedRecording } from "./recognized-recording.ts";
import { type Draft, TranscriptSaving } from "./save-transcript.ts";
import {
  finalized,
  nothingSpoken,
  type SpokenWord,
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
  #recording: RecognizedRecording | undefined;
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
        { deviceId, rate: this.#recording?.audio.rate },
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
    const amounts = this.#recording?.amounts;
    this.#change({ phase: "stopped", pause: undefined, lostSeconds, ...amounts });
    await this.#recording?.recognized();
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
    this.#recording?.retry();
  }

  /**
   * Saves the text and the audio, and returns `transcripts/<id>`. After a failure, another call
   * continues where the failed call stopped. Throws ApiError, or the reason of `signal`.
   */
  async save(subject: string, options: Parameters<TranscriptSaving["save"]>[2]): Promise<string> {
    const recording = this.#recording;
    if (!recording) throw new Error("nothing was recorded");
    await recording.stopRecognizing();
    const { languageCode, spoken } = this.#state;
    // Everything shown is saved, including interim results that will not become final.
    const utterances = finalized(spoken).paragraphs.flat();
    const draft: Draft = { subject, languageCode, utterances };
    try {
      return await this.#saving.save(draft, recording.audio, options);
    } finally {
      this.#change({ savedName: this.#saving.name });
      if (this.#saving.name === undefined) this.#recording?.recognize();
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
      const spoken = words.reduce(withFinal, nothingSpoken);
      this.#noteSaved = left.take();
      this.#saving = new TranscriptSaving(this.#owner, id);
      const utterances = spoken.paragraphs.flat();
      const recording = this.#newRecording({ rate, startedAtMs }, { audio, utterances });
      this.#recording = recording;
      this.#loudness.startAt(recording.audio.seconds);
      recording.end();
      this.#change({ phase: "stopped", spoken });
      recording.recognize();
      this.#change(recording.amounts);
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
    this.#recording?.drop();
    this.#recording = undefined;
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
    this.#noteSaved ??= noteUnsaved(this.#owner, "recording", this.#saving.id);
    this.#recording ??= this.#newRecording({ rate, startedAtMs: Date.now() });
    this.#recording.resume();
  }

  #newRecording(
    { rate, startedAtMs }: { readonly rate: number; readonly startedAtMs: number },
    left?: ConstructorParameters<typeof RecognizedRecording>[1]["left"],
  ): RecognizedRecording {
    const { languageCode } = this.#state;
    const facts = { id: this.#saving.id, owner: this.#owner, rate, languageCode, startedAtMs };
    return new RecognizedRecording(facts, {
      loadStreams: this.loadStreams,
      onUnstored: () => this.#change({ isUnstored: true }),
      ...(left && { left }),
      events: {
        onWords: (words, isFinal) => this.#addWords(words, isFinal),
        onRetract: () => {
          this.#change({ spoken: withoutLast(this.#state.spoken) });
          this.#recording?.setUtterances(this.#state.spoken.paragraphs.flat());
        },
        onConnection: (connection) => {
          const isChanged = connection.kind !== this.#state.connection.kind;
          if (isChanged || "error" in connection) this.#change({ connection });
        },
      },
    });
  }

  #take({ samples, endAt }: Chunk): void {
    const recording = this.#recording;
    if (!recording) return;
    recording.push(samples);
    const recordedSeconds = recording.audio.seconds;
    this.#delays.captured(1000 * recordedSeconds, endAt);
    const isSilent = this.#loudness.measure(samples, recordedSeconds);
    const { amounts } = recording;
    const { seconds, unsentSeconds } = this.#state;
    const isChanged = amounts.seconds !== seconds || amounts.unsentSeconds !== unsentSeconds;
    if (isChanged || isSilent !== this.#state.isSilent) this.#change({ ...amounts, isSilent });
    if (recordedSeconds >= recordingSecondsMax) void this.stop("full");
  }

  #addWords(words: readonly SpokenWord[], isFinal: boolean): void {
    const { spoken } = this.#state;
    this.#delays.arrived(words, isFinal);
    const next = isFinal ? withFinal(spoken, words) : withInterim(spoken, words);
    this.#change({ spoken: next, ...this.#recording?.amounts });
    if (isFinal) this.#recording?.setUtterances(next.paragraphs.flat());
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
