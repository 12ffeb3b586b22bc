import { useSyncExternalStore } from "react";

/** The state of the playback, except for the place, which changes on every frame. */
export interface PlaybackState {
  readonly isPlaying: boolean;
  readonly isMuted: boolean;
  /** The speed; 1 is the original speed. */
  readonly rate: number;
  /** The duration in seconds; 0 while it is unknown. */
  readonly duration: number;
  /** Whether the user has played or sought yet. Until then, the text shows no position. */
  readonly isBegun: boolean;
  /** "unavailable": the media could not be fetched. "unplayable": it could not be decoded. */
  readonly problem: "unavailable" | "unplayable" | undefined;
}

export const rates = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2] as const;

/** The URL of media. */
export interface MediaSource {
  readonly url: string;
  /** Returns a new URL of the same media, because signed URLs expire. */
  readonly renewUrl: () => Promise<string>;
}

/** What the media keys of a keyboard, a pedal or a headset do, and the device's own controls. */
export interface MediaKeys {
  readonly play: () => void;
  readonly pause: () => void;
  readonly previous: () => void;
  readonly next: () => void;
  /** Seeks by this many seconds, if the device names a number. */
  readonly back: (seconds: number | undefined) => void;
  readonly forward: (seconds: number | undefined) => void;
}

/**
 * How often listeners receive the place during playback, in ms. A callback for each frame of the
 * screen would have the browser make all frames, also those in which nothing changes.
 */
const tickMs = 33;

/** How far media keys move the playback while a text is read, in seconds. */
const mediaKeySeconds = 5;

/** Receives the place in seconds. `isSought` indicates whether the user has chosen the place. */
type PlaceListener = (seconds: number, isSought: boolean) => void;

/**
 * The playback of one recording, shared by the text, the player and the keyboard shortcuts. Without
 * a media element, commands wait for one. `onPlace` listeners receive the place 30 times a second
 * during playback, and otherwise whenever it changes.
 */
export class Playback {
  #media: HTMLMediaElement | undefined;
  #source: MediaSource | undefined;
  #place = 0;
  #isPlayRequested = false;
  #ticks: ReturnType<typeof setInterval> | undefined;
  /** Whether the URL has been renewed since media was last loaded. */
  #isRenewed = false;
  #state: PlaybackState;
  #mediaKeys: MediaKeys | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #placeListeners = new Set<PlaceListener>();

  constructor({ duration, start }: { readonly duration: number; readonly start: number }) {
    this.#place = start;
    this.#state = {
      isPlaying: false,
      isMuted: false,
      rate: 1,
      duration,
      isBegun: start > 0,
      problem: undefined,
    };
  }

  get state(): PlaybackState {
    return this.#state;
  }

  /** The place in seconds from the start of the recording. */
  get place(): number {
    return this.#place;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  onPlace(listener: PlaceListener): () => void {
    this.#placeListeners.add(listener);
    return () => this.#placeListeners.delete(listener);
  }

  /** Uses this element for playback from now on. Returns a function that detaches the element. */
  attach(media: HTMLMediaElement, source: MediaSource): () => void {
    this.#media = media;
    this.#source = source;
    const listening = new AbortController();
    const on = (name: keyof HTMLMediaElementEventMap, listener: () => void) =>
      media.addEventListener(name, listener, { signal: listening.signal });
    on("loadedmetadata", () => this.#loaded(media));
    on("durationchange", () => {
      if (Number.isFinite(media.duration)) this.#change({ duration: media.duration });
    });
    on("play", () =>
      this.#change({ isPlaying: this.#state.problem === undefined && !media.paused }),
    );
    on("playing", () => {
      this.#change({ isPlaying: !media.paused, isBegun: true, problem: undefined });
      // What is played begins where it was, and not at the first tick.
      this.#sendPlace();
      this.#notifyRegularly();
    });
    for (const name of ["pause", "ended"] as const) {
      on(name, () => {
        this.#isPlayRequested = !media.paused;
        this.#change({ isPlaying: !media.paused });
        this.#notify();
      });
    }
    on("seeked", () => this.#notify());
    on("ratechange", () => this.#change({ rate: media.playbackRate }));
    on("volumechange", () => this.#change({ isMuted: media.muted }));
    on("error", () => void this.#recover(media));
    this.#load(media, source.url);
    return () => {
      listening.abort();
      media.pause();
      media.removeAttribute("src");
      media.load();
      this.#media = undefined;
      this.#change({ isPlaying: false });
    };
  }

  play(): void {
    this.#isPlayRequested = true;
    // The media may be available again.
    if (this.#state.problem === "unavailable" && this.#media) {
      this.#isRenewed = false;
      void this.#recover(this.#media);
      return;
    }
    // The promise rejects if the browser requires a user action first, or if playback is paused. In
    // both cases nothing changes.
    this.#media?.play().catch(() => {});
  }

  pause(): void {
    this.#isPlayRequested = false;
    this.#media?.pause();
  }

  /**
   * Whether it plays by the element's own state instead of that of its last event, so that two
   * quick presses count as two.
   */
  get isPlayingNow(): boolean {
    const isPlaying = this.#media ? !this.#media.paused : this.#isPlayRequested;
    return isPlaying && this.#state.problem === undefined;
  }

  toggle(): void {
    if (this.isPlayingNow) this.pause();
    else this.play();
  }

  get mediaKeys(): MediaKeys {
    return (
      this.#mediaKeys ?? {
        play: () => this.play(),
        pause: () => this.pause(),
        previous: () => this.skip(-mediaKeySeconds),
        next: () => this.skip(mediaKeySeconds),
        back: (seconds = mediaKeySeconds) => this.skip(-seconds),
        forward: (seconds = mediaKeySeconds) => this.skip(seconds),
      }
    );
  }

  /** Replaces what media keys do. Returns a function that undoes it. */
  replaceMediaKeys(keys: MediaKeys): () => void {
    this.#mediaKeys = keys;
    return () => {
      if (this.#mediaKeys === keys) this.#mediaKeys = undefined;
    };
  }

  /** Seeks to a place within the recording. */
  seek(seconds: number): void {
    // All listeners first learn what was played since the last frame.
    if (this.#state.isPlaying) this.#notify();
    const { duration } = this.#state;
    this.#place = Math.max(0, duration > 0 ? Math.min(seconds, duration) : seconds);
    if (this.#media && this.#media.readyState > 0) this.#media.currentTime = this.#place;
    this.#change({ isBegun: true });
    for (const listener of this.#placeListeners) listener(this.#place, true);
  }

  /** Seeks from the place that is played at this moment: in a hidden tab there are no frames. */
  skip(seconds: number): void {
    this.#readPlace();
    this.seek(this.#place + seconds);
  }

  /** The current speed, which the state has only after the element's next event. */
  get rate(): number {
    return this.#media?.playbackRate ?? this.#state.rate;
  }

  setRate(rate: number): void {
    if (this.#media) {
      this.#media.defaultPlaybackRate = rate;
      this.#media.playbackRate = rate;
    }
  }

  /** Selects the next higher or lower rate. */
  changeRate(by: 1 | -1): void {
    const { rate: now } = this;
    const at = rates.findIndex((rate) => rate >= now);
    this.setRate(rates[at + by] ?? now);
  }

  toggleMuted(): void {
    if (this.#media) this.#media.muted = !this.#media.muted;
  }

  #load(media: HTMLMediaElement, url: string): void {
    media.preservesPitch = true;
    media.src = url;
    media.load();
    if (this.#isPlayRequested) media.play().catch(() => {});
  }

  #loaded(media: HTMLMediaElement): void {
    this.#isRenewed = false;
    this.#change({ problem: undefined });
    if (this.#place > 0) media.currentTime = this.#place;
  }

  /**
   * Continues the playback at the same place with a new URL, because the old one may have expired.
   */
  async #recover(media: HTMLMediaElement): Promise<void> {
    const isUndecodable = media.error?.code === MediaError.MEDIA_ERR_DECODE;
    if (isUndecodable || this.#isRenewed || !this.#source) {
      this.#fail(isUndecodable || this.#isRenewed ? "unplayable" : "unavailable");
      return;
    }
    this.#isRenewed = true;
    try {
      const url = await this.#source.renewUrl();
      if (this.#media === media) this.#load(media, url);
    } catch {
      this.#fail("unavailable");
    }
  }

  #fail(problem: "unavailable" | "unplayable"): void {
    this.#isPlayRequested = false;
    this.#change({ isPlaying: false, problem });
  }

  #notifyRegularly(): void {
    clearInterval(this.#ticks);
    this.#ticks = setInterval(() => {
      if (this.#state.isPlaying && this.#media) this.#notify();
      else clearInterval(this.#ticks);
    }, tickMs);
  }

  #readPlace(): void {
    // While the element loads, its position is 0, not the place where playback will continue.
    if (this.#media && this.#media.readyState > 0 && !this.#media.seeking)
      this.#place = this.#media.currentTime;
  }

  #notify(): void {
    this.#readPlace();
    this.#sendPlace();
  }

  #sendPlace(): void {
    for (const listener of this.#placeListeners) listener(this.#place, false);
  }

  #change(change: Partial<PlaybackState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** The current state of a playback. */
export function usePlaybackState(playback: Playback): PlaybackState {
  return useSyncExternalStore(playback.subscribe, () => playback.state);
}
