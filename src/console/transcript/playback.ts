import { useSyncExternalStore } from "react";

/** How the playing stands, but for the place, which changes with every frame. */
export interface PlaybackState {
  readonly isPlaying: boolean;
  readonly isMuted: boolean;
  /** 1 is as it was said. */
  readonly rate: number;
  /** Seconds; 0 while nobody knows. */
  readonly duration: number;
  /** Whether anything was played or gone to: until then the text is only read. */
  readonly isBegun: boolean;
  /** "away": it could not be fetched. "unplayable": it could, but not decoded. */
  readonly problem: "away" | "unplayable" | undefined;
}

export const rates = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2] as const;

/** Where media comes from. */
export interface MediaSource {
  readonly url: string;
  /** Gives another URL of the same media, as the signed ones expire. */
  readonly renewUrl: () => Promise<string>;
}

/** Is told the place in seconds; `isSought`: somebody has gone there. */
type PlaceListener = (seconds: number, isSought: boolean) => void;

/**
 * The playing of one recording: what the text, the player and the keys share. Without a media
 * element what is asked of it waits for one. `onPlace` listeners are told the place with each frame
 * while it plays, and whenever it changes otherwise.
 */
export class Playback {
  #media: HTMLMediaElement | undefined;
  #source: MediaSource | undefined;
  #place = 0;
  #wantsPlay = false;
  #frame = 0;
  /** Whether the URL was renewed since media last came by it. */
  #isRenewed = false;
  #state: PlaybackState;
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

  /** Seconds from the start of the recording. */
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

  /** Plays by this element from now on. What is answered lets go of it. */
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
      this.#tellFrames();
    });
    for (const name of ["pause", "ended"] as const) {
      on(name, () => {
        this.#wantsPlay = !media.paused;
        this.#change({ isPlaying: !media.paused });
        this.#tell();
      });
    }
    on("seeked", () => this.#tell());
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
    this.#wantsPlay = true;
    // What was away may be back.
    if (this.#state.problem === "away" && this.#media) {
      this.#isRenewed = false;
      void this.#recover(this.#media);
      return;
    }
    // Refused where the browser wants a press first, or ended by a pause: then it stays as it is.
    this.#media?.play().catch(() => {});
  }

  pause(): void {
    this.#wantsPlay = false;
    this.#media?.pause();
  }

  /** What the last press has asked for is known before its event comes: so two in a row are two. */
  toggle(): void {
    const isUnderWay = this.#media ? !this.#media.paused : this.#wantsPlay;
    if (isUnderWay && this.#state.problem === undefined) this.pause();
    else this.play();
  }

  /** Goes to a place, within the recording. */
  seek(seconds: number): void {
    const { duration } = this.#state;
    this.#place = Math.max(0, duration > 0 ? Math.min(seconds, duration) : seconds);
    if (this.#media && this.#media.readyState > 0) this.#media.currentTime = this.#place;
    this.#change({ isBegun: true });
    for (const listener of this.#placeListeners) listener(this.#place, true);
  }

  skip(seconds: number): void {
    this.seek(this.#place + seconds);
  }

  setRate(rate: number): void {
    if (this.#media) {
      this.#media.defaultPlaybackRate = rate;
      this.#media.playbackRate = rate;
    }
  }

  /** The next rate up or down. */
  changeRate(by: 1 | -1): void {
    const now = this.#media?.playbackRate ?? this.#state.rate;
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
    if (this.#wantsPlay) media.play().catch(() => {});
  }

  #loaded(media: HTMLMediaElement): void {
    this.#isRenewed = false;
    this.#change({ problem: undefined });
    if (this.#place > 0) media.currentTime = this.#place;
  }

  /**
   * By a URL that has expired nothing comes any more: by a new one it goes on at the same place.
   */
  async #recover(media: HTMLMediaElement): Promise<void> {
    const isOfContent = media.error?.code === MediaError.MEDIA_ERR_DECODE;
    if (isOfContent || this.#isRenewed || !this.#source) {
      this.#fail(isOfContent || this.#isRenewed ? "unplayable" : "away");
      return;
    }
    this.#isRenewed = true;
    try {
      const url = await this.#source.renewUrl();
      if (this.#media === media) this.#load(media, url);
    } catch {
      this.#fail("away");
    }
  }

  #fail(problem: "away" | "unplayable"): void {
    this.#wantsPlay = false;
    this.#change({ isPlaying: false, problem });
  }

  #tellFrames(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      if (!this.#state.isPlaying || !this.#media) return;
      this.#tell();
      this.#tellFrames();
    });
  }

  #tell(): void {
    // What is loading is at 0, whatever place it will go on at.
    if (this.#media && this.#media.readyState > 0 && !this.#media.seeking)
      this.#place = this.#media.currentTime;
    for (const listener of this.#placeListeners) listener(this.#place, false);
  }

  #change(change: Partial<PlaybackState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** How the playing stands, as it changes. */
export function usePlaybackState(playback: Playback): PlaybackState {
  return useSyncExternalStore(playback.subscribe, () => playback.state);
}
