import { ApiError } from "../../api/api-error.ts";
import { callApi } from "../../api/call-api.ts";
import { isDeletedHere } from "../../api/deleted-transcripts.ts";
import { mayStore } from "../../api/unsaved-work.ts";

/** How often a page reports that it still has a transcript open. */
const renewEveryMs = 15_000;
/** How often a page may report that its place has changed, while others have the text open. */
const moveEveryMs = 3_000;
/** A place that differs by less, in seconds, is the same. */
const sameSeconds = 1;

/** A page on which a transcript is read. */
export interface Reader {
  /** The place of the user in seconds; undefined if it is not known. */
  place(): number | undefined;
  /** Whether the sound is being played. */
  isListening(): boolean;
}

/**
 * Reports that a page has a transcript open, until it is stopped. The place is reported again while
 * it changes, but only if others have the text open; otherwise as often as is needed to be counted.
 * A page that is hidden and silent reports that it has left, unless it edits.
 */
export class PresenceReporter {
  readonly #name: string;
  readonly #onDeleted: () => void;
  /** The name of this page among the participants. */
  readonly session = `page-${crypto.getRandomValues(new Uint32Array(3)).join("-")}`;
  #reader: Reader | undefined;
  /** Returns the place of the caret, while the text is edited. */
  #caret: (() => number | undefined) | undefined;
  #others = 0;
  #sent: { readonly atMs: number; readonly place: number | undefined } | undefined;
  #isSending = false;
  #isDue = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(name: string, onDeleted: () => void) {
    this.#name = name;
    this.#onDeleted = onDeleted;
  }

  /** Begins to report. Returns a function that stops it. */
  start(): () => void {
    const listening = new AbortController();
    const { signal } = listening;
    const report = (): void => this.#report();
    const leave = (): void => {
      this.#sent = undefined;
      void this.#send({ leave: true });
    };
    this.#timer = setInterval(() => this.#reportIfDue(), moveEveryMs);
    report();
    addEventListener("pagehide", leave, { signal });
    addEventListener("pageshow", report, { signal });
    document.addEventListener("visibilitychange", report, { signal });
    return () => {
      listening.abort();
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#report();
    };
  }

  /** Reports that the page edits, with its place, until the function that is returned is called. */
  edit(place: () => number | undefined): () => void {
    this.#caret = place;
    this.#report();
    return () => {
      if (this.#caret !== place) return;
      this.#caret = undefined;
      this.#report();
    };
  }

  /** Receives the page on which the text is read while it is not edited. */
  setReader(reader: Reader): void {
    this.#reader = reader;
  }

  /** Receives how many others have the text open: those who come see where this page is. */
  setOthers(count: number): void {
    const isMore = count > this.#others;
    this.#others = count;
    if (isMore) this.#reportIfMoved();
  }

  #reportIfDue(): void {
    if (this.#hasLeft() && !this.#sent) return;
    const elapsedMs = performance.now() - (this.#sent?.atMs ?? -Infinity);
    if (elapsedMs > renewEveryMs - moveEveryMs / 2) this.#report();
    else if (this.#others > 0) this.#reportIfMoved();
  }

  #reportIfMoved(): void {
    if (!this.#sent) return;
    const [place, before] = [this.#place(), this.#sent.place];
    if (place === before) return;
    const isNear =
      place !== undefined && before !== undefined && Math.abs(place - before) < sameSeconds;
    if (!isNear) this.#report();
  }

  #place(): number | undefined {
    return this.#caret ? this.#caret() : this.#reader?.place();
  }

  /** Whether the page is closed, or hidden and silent. */
  #hasLeft(): boolean {
    if (this.#timer === undefined) return true;
    return document.hidden && !this.#caret && this.#reader?.isListening() !== true;
  }

  /** Reports the present state; after the report that is under way, if there is one. */
  #report(): void {
    this.#isDue = true;
    if (!this.#isSending) void this.#sendDue();
  }

  async #sendDue(): Promise<void> {
    this.#isSending = true;
    try {
      while (this.#isDue) {
        this.#isDue = false;
        // A report never overtakes another one.
        await this.#send(this.#state());
      }
    } finally {
      this.#isSending = false;
    }
  }

  #state(): object {
    if (this.#hasLeft()) {
      this.#sent = undefined;
      return { leave: true };
    }
    const place = this.#place();
    this.#sent = { atMs: performance.now(), place };
    const position = place === undefined ? {} : { position: `${place.toFixed(3)}s` };
    return { editing: this.#caret !== undefined, ...position };
  }

  async #send(state: object): Promise<void> {
    // Neither a deleted transcript nor the page of a user who has signed out has participants.
    if (isDeletedHere(this.#name) || !mayStore()) return;
    const path = `/v1alpha1/${this.#name}:reportPresence`;
    const body = { session: this.session, ...state };
    try {
      await callApi(path, { method: "POST", body, keepalive: true });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.reason === "TRANSCRIPT_NOT_FOUND") this.#onDeleted();
      // Otherwise the next report may succeed, so no error is shown.
    }
  }
}
