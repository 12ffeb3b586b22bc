import type { Playback } from "../../playback.ts";
import type { EditSettings } from "../keys/settings.ts";

/** How far the keys move the playback, in seconds. */
const skipSeconds = 2;
/** How long after the last typed character the playback goes on, or returns to its speed. */
const typedMs = 1_000;
/** The speed while the user types, as a share of the chosen speed. */
const slowShare = 0.6;
const [rateMin, rateMax] = [0.5, 2];

type PlayingSettings = Pick<EditSettings, "jumpBackSeconds" | "whileTyping">;

/** Playback while a text is edited: what its keys do, and what typing does to it. */
export class EditPlayback implements Disposable {
  readonly #playback: Playback;
  #settings: PlayingSettings;
  #resting: ReturnType<typeof setTimeout> | undefined;
  /** What is done when the user no longer types. */
  #goOn: (() => void) | undefined;

  constructor(playback: Playback, settings: PlayingSettings) {
    this.#playback = playback;
    this.#settings = settings;
  }

  setSettings(settings: PlayingSettings): void {
    this.#settings = settings;
  }

  /** Whether it plays, or waits for the user to stop typing. */
  get isPlaying(): boolean {
    return this.#playback.isPlayingNow || this.#goOn !== undefined;
  }

  /** Pauses, and jumps back as far as the user has chosen; or plays. */
  toggle(): void {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  play(): void {
    this.#stopWaiting();
    this.#playback.play();
  }

  pause(): void {
    this.#stopWaiting();
    this.#playback.pause();
    const { jumpBackSeconds } = this.#settings;
    if (jumpBackSeconds > 0) this.#playback.skip(-jumpBackSeconds);
  }

  playFrom(seconds: number): void {
    this.#stopWaiting();
    this.#playback.seek(seconds);
    this.#playback.play();
  }

  skip(direction: 1 | -1, seconds = skipSeconds): void {
    this.#playback.skip(direction * seconds);
  }

  /** Changes the speed by a tenth, from 0.5 to 2. */
  changeRate(direction: 1 | -1): void {
    this.#stopWaiting();
    const tenths = Math.round(this.#playback.rate * 10) + direction;
    this.#playback.setRate(Math.min(rateMax, Math.max(rateMin, tenths / 10)));
  }

  /** Is called when the user has typed. */
  typed(): void {
    const { whileTyping } = this.#settings;
    if (whileTyping === "play") return;
    if (!this.#goOn) {
      if (!this.#playback.isPlayingNow) return;
      this.#goOn = whileTyping === "pause" ? this.#pauseForNow() : this.#slowForNow();
    }
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      const goOn = this.#goOn;
      this.#goOn = undefined;
      goOn?.();
    }, typedMs);
  }

  [Symbol.dispose](): void {
    const goOn = this.#goOn;
    this.#stopWaiting();
    goOn?.();
  }

  #pauseForNow(): () => void {
    this.#playback.pause();
    return () => this.#playback.play();
  }

  #slowForNow(): () => void {
    const { rate } = this.#playback;
    this.#playback.setRate(Math.max(rateMin, rate * slowShare));
    return () => this.#playback.setRate(rate);
  }

  /** Forgets that playback waits for the user to stop typing. */
  #stopWaiting(): void {
    clearTimeout(this.#resting);
    if (this.#playback.isPlayingNow) this.#goOn?.();
    this.#goOn = undefined;
  }
}
