import { createHlustClient } from "../../client/hlust-client.ts";
import type { CreateStreamTokenResponseJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { ApiError } from "../api/api-error.ts";
import { callApi } from "../api/call-api.ts";
import { Delays } from "./delays.ts";
import { Hearing } from "./hearing.ts";
import { loudnessOf } from "./level.ts";
import { idleState, type LiveState } from "./live-state.ts";
import { type Chunk, type Microphone, MicrophoneError, openMicrophone } from "./microphone.ts";
import { Recording } from "./recording.ts";
import { type Draft, TranscriptSaving } from "./save-transcript.ts";
import { settled, type SpokenWord, withFinal, withInterim, withoutLast } from "./spoken.ts";

/** 1.4 GB of sound at 48 kHz, which browsers keep on the disk. */
const recordingSecondsMax = 4 * 3600;

/** Until the page says another one. */
const languageDefault = "en-US";

/** So much silence is told of: people pause, but rooms are never as quiet. */
const silentSecondsMin = 5;

/** Words that came and are not on the page yet. */
interface Coming {
  readonly words: readonly SpokenWord[];
  readonly isFinal: boolean;
}

/**
 * Somebody speaks: a microphone, what it recorded, and what the service heard of it. Outlives the
 * page that shows it, so that a page that has to go (the session in the browser has ended) loses
 * nothing.
 */
export class LiveSession {
  readonly #client = createHlustClient({
    url: location.origin,
    streamToken: (signal) => this.#askForToken(signal),
  });
  readonly #owner: string;
  readonly #isHere: () => boolean;
  readonly #listeners = new Set<() => void>();
  readonly #levelListeners = new Set<(loudness: number) => void>();
  #state = idleState(languageDefault);
  #recording: Recording | undefined;
  #hearing: Hearing | undefined;
  #microphone: Microphone | undefined;
  #delays = new Delays();
  #coming: Coming[] = [];
  #saving: TranscriptSaving;
  #isLanguageChosen = false;
  /** How much of the recording there was when something was last heard. */
  #loudUntil = 0;
  /** It goes on with another microphone as soon as this one is closed. */
  #isChanging = false;
  /** Another one makes what is still being opened unwanted. */
  #turn = 0;

  /** `owner`: who speaks (identityOf); `isHere`: whether they are still signed in. */
  constructor(owner: string, isHere: () => boolean) {
    this.#owner = owner;
    this.#isHere = isHere;
    this.#saving = new TranscriptSaving(owner);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): LiveState => this.#state;

  /** Told how loud it is, 0 to 1, with each chunk that is captured. */
  readonly onLevel = (listener: (loudness: number) => void): (() => void) => {
    this.#levelListeners.add(listener);
    return () => this.#levelListeners.delete(listener);
  };

  /**
   * In what language the next words are said; once there are some, it stays. A guess gives way to
   * what was chosen.
   */
  speak(languageCode: string, by: "choice" | "guess"): void {
    if (this.#recording || (by === "guess" && this.#isLanguageChosen)) return;
    this.#isLanguageChosen ||= by === "choice";
    if (languageCode !== this.#state.languageCode) this.#change({ languageCode });
  }

  /** Listens, or goes on after a stop. What goes wrong is in the state. */
  async start(): Promise<void> {
    const { phase, savedName } = this.#state;
    if ((phase !== "idle" && phase !== "stopped") || savedName !== undefined) return;
    this.#turn += 1;
    const turn = this.#turn;
    this.#change({ phase: "opening", problem: undefined, pause: undefined });
    const { deviceId } = this.#state;
    try {
      const microphone = await openMicrophone(
        { deviceId, rate: this.#recording?.rate },
        {
          onChunk: (chunk) => {
            if (turn === this.#turn) this.#take(chunk);
          },
          onGone: () => void this.stop("gone"),
          onPause: (pause) => this.#change({ pause }),
        },
      );
      if (turn !== this.#turn) {
        await microphone.close();
        return;
      }
      this.#microphone = microphone;
      this.#record(microphone.rate);
      this.#change({ phase: "listening", deviceId: deviceId ?? microphone.deviceId });
    } catch (error) {
      if (turn !== this.#turn) return;
      const problem = error instanceof MicrophoneError ? error.problem : "broken";
      // The next press takes what there is.
      if (problem === "missing") this.#change({ deviceId: undefined });
      this.#change({ phase: this.#recording ? "stopped" : "idle", problem });
    }
  }

  /**
   * Stops listening. Resolves when all that was said has been heard, as far as the service can be
   * reached.
   */
  async stop(problem?: "gone" | "full"): Promise<void> {
    if (this.#state.phase === "opening") {
      this.#turn += 1;
      this.#change({ phase: this.#recording ? "stopped" : "idle" });
      return;
    }
    this.#isChanging = false;
    const microphone = this.#microphone;
    if (!microphone) return;
    const turn = this.#turn;
    this.#microphone = undefined;
    this.#change({ phase: "closing", problem });
    const lostSeconds = this.#state.lostSeconds + (await microphone.close()) / microphone.rate;
    // Given up meanwhile: there is nothing to end.
    if (turn !== this.#turn) return;
    this.#recording?.end();
    this.#change({ phase: "stopped", pause: undefined, lostSeconds, ...this.#amounts() });
    await this.#hearing?.done();
  }

  /** Takes another microphone, in the middle too. */
  async choose(deviceId: string): Promise<void> {
    this.#change({ deviceId });
    if (this.#state.phase !== "listening") return;
    void this.stop();
    this.#isChanging = true;
    await this.#until(({ phase }) => phase === "stopped" || phase === "idle");
    // Whoever has stopped it meanwhile, or has left the page, wants no other.
    if (this.#isChanging) await this.start();
  }

  /** Goes on where the browser has stopped listening. */
  async resume(): Promise<void> {
    await this.#microphone?.resume();
  }

  /** Asks the service again now. */
  retry(): void {
    this.#hearing?.retry();
  }

  /**
   * Saves what was said, with its sound, and answers `transcripts/<id>`. What has failed goes on
   * where it was with another call. Throws ApiError, or the reason of `signal`.
   */
  async save(subject: string, options: Parameters<TranscriptSaving["save"]>[2]): Promise<string> {
    const recording = this.#recording;
    if (!recording) throw new Error("nothing was recorded");
    await this.#hearing?.stop();
    const { languageCode, spoken } = this.#state;
    // What was seen is saved, also what nobody could make final.
    const utterances = settled(spoken).paragraphs.flat();
    const draft: Draft = { subject, languageCode, utterances };
    try {
      return await this.#saving.save(draft, recording, options);
    } finally {
      this.#change({ savedName: this.#saving.name });
      if (this.#saving.name === undefined) this.#hearing?.start();
    }
  }

  /** Forgets everything, and listens no more. */
  discard(): void {
    this.#turn += 1;
    this.#isChanging = false;
    void this.#microphone?.close();
    this.#microphone = undefined;
    this.#recording?.end();
    void this.#hearing?.stop();
    this.#hearing = undefined;
    this.#recording = undefined;
    this.#delays = new Delays();
    this.#coming = [];
    this.#saving = new TranscriptSaving(this.#owner);
    this.#loudUntil = 0;
    const { languageCode, deviceId } = this.#state;
    this.#change({ ...idleState(languageCode), deviceId });
  }

  /**
   * What came is on the page since `at`, in ms of Date.now(); undefined where nobody sees the page.
   */
  readonly wasShown = (at: number | undefined): void => {
    const coming = this.#coming;
    this.#coming = [];
    if (at === undefined) return;
    for (const { words, isFinal } of coming) this.#delays.shown(words, isFinal, at);
    const { word, sentence } = this.#delays;
    if (coming.some(({ isFinal }) => isFinal)) this.#change({ word, sentence });
  };

  #record(rate: number): void {
    this.#recording ??= new Recording(rate);
    this.#recording.goOn();
    this.#hearing ??= new Hearing(this.#recording, {
      client: this.#client,
      languageCode: this.#state.languageCode,
      events: {
        onWords: (words, isFinal) => this.#heard(words, isFinal),
        onTakeBack: () => this.#change({ spoken: withoutLast(this.#state.spoken) }),
        onLink: (link) => {
          if (link.kind !== this.#state.link.kind || "error" in link) this.#change({ link });
        },
      },
    });
    this.#hearing.start();
  }

  #take({ samples, endAt }: Chunk): void {
    const recording = this.#recording;
    if (!recording) return;
    recording.push(samples);
    this.#delays.captured(1000 * recording.seconds, endAt);
    const loudness = loudnessOf(samples);
    for (const listener of this.#levelListeners) listener(loudness);
    if (loudness > 0) this.#loudUntil = recording.seconds;
    const isSilent = recording.seconds - this.#loudUntil >= silentSecondsMin;
    const amounts = this.#amounts();
    const { seconds, unsentSeconds } = this.#state;
    const isNews = amounts.seconds !== seconds || amounts.unsentSeconds !== unsentSeconds;
    if (isNews || isSilent !== this.#state.isSilent) this.#change({ ...amounts, isSilent });
    if (recording.seconds >= recordingSecondsMax) void this.stop("full");
  }

  #amounts(): Pick<LiveState, "seconds" | "unsentSeconds" | "bytes"> {
    const { seconds = 0, bytes = 0 } = this.#recording ?? {};
    const unsentSeconds = Math.floor(this.#hearing?.unsentSeconds ?? 0);
    return { seconds: Math.floor(seconds), unsentSeconds, bytes };
  }

  #heard(words: readonly SpokenWord[], isFinal: boolean): void {
    const { spoken } = this.#state;
    this.#coming.push({ words, isFinal });
    const next = isFinal ? withFinal(spoken, words) : withInterim(spoken, words);
    this.#change({ spoken: next, ...this.#amounts() });
  }

  #until(holds: (state: LiveState) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.subscribe(() => {
        if (!holds(this.#state)) return;
        stop();
        resolve();
      });
    });
  }

  #change(changes: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of this.#listeners) listener();
  }

  /**
   * A page has no key: each stream has a token of its own. What one has said is sent for nobody
   * else.
   */
  async #askForToken(signal: AbortSignal): Promise<string> {
    if (!this.#isHere())
      throw new ApiError("somebody else is signed in", { status: 401, reason: "SIGNED_OUT" });
    const { token = "" } = await callApi<CreateStreamTokenResponseJson>("/v1/streamTokens", {
      method: "POST",
      body: {},
      signal,
      owner: this.#owner,
    });
    return token;
  }
}

const kept = new Map<string, LiveSession>();

/**
 * The session of somebody in an account: whoever comes after them in the same browser finds nothing
 * of it.
 */
export function liveSessionOf(owner: string, isHere: () => boolean): LiveSession {
  const session = kept.get(owner) ?? new LiveSession(owner, isHere);
  kept.set(owner, session);
  return session;
}
