import { ApiError } from "../../../api/api-error.ts";
import { type KnownDrafts, knownDrafts } from "../kept-sessions.ts";
import { addOpenDraft, type OpenDraft } from "../../../api/open-drafts.ts";
import { DraftError, readDraft } from "../model/draft.ts";
import { keepDraftsHere } from "./draft-database.ts";
import { isChangedElsewhere, sendDrafts } from "./send-drafts.ts";
import { includes, type KeptDraft, type KeptDrafts, withOthers } from "./kept-drafts.ts";

/**
 * How long after the last change the draft is stored in this browser, and the longest wait: two
 * seconds are lost at most, with the time that a disk needs.
 */
const hereMs = { quiet: 400, max: 1_000 };
/**
 * How often the draft is saved on the service while the text changes; more often if the browser
 * does not store it.
 */
const serviceMs = { usual: 30_000, alone: 5_000 };
/** When a browser that has refused a draft is asked again. */
const hereAgainMs = 10_000;

/** Where the latest changes are kept. */
export interface DraftState {
  /** "kept": up to the last second or two; "failed": this browser refuses to store it. */
  readonly here: "none" | "kept" | "failed";
  /**
   * "elsewhere": another browser has saved another draft, which is left as it is. "tooLarge": the
   * service does not accept a draft of this size. "full": the account cannot store more for now.
   */
  readonly service: "none" | "kept" | "failed" | "full" | "elsewhere" | "tooLarge";
  /** The draft that another browser has saved meanwhile, if there is one. */
  readonly elsewhere: KeptDraft | undefined;
  /** Drafts that were written apart from this one, and wait until the user decides. */
  readonly others: readonly KeptDraft[];
}

/** This page in the histories of drafts. */
const page = crypto.getRandomValues(new Uint32Array(3)).join("-");
/** The number of the last change of a draft in this page. */
let changes = 0;

interface KeeperParts {
  /** The user (identityOf) whose draft it is. Someone else may be signed in by now. */
  readonly owner: string;
  /** The name of the transcript. */
  readonly name: string;
  /** Returns the id of the version that is edited. */
  readonly baseVersion: () => string;
  /** Returns the draft as it is now. */
  readonly current: () => Omit<KeptDraft, "changedAt" | "by">;
}

/** Keeps the draft of an edited text, in this browser and on the service. */
export class DraftKeeper implements Disposable, OpenDraft {
  readonly #parts: KeeperParts;
  readonly #key: string;
  readonly #listeners = new Set<() => void>();
  readonly #remove: () => void;
  readonly #known: KnownDrafts;
  #state: DraftState;
  /** When the first change was made that is not stored yet. */
  #waitsSince: number | undefined;
  #isClosed = false;
  #here: ReturnType<typeof setTimeout> | undefined;
  #service: ReturnType<typeof setTimeout> | undefined;
  /**
   * What is stored in the browser, one after the other, and on the service. Neither waits for the
   * other, which may not answer.
   */
  #workHere: Promise<void> = Promise.resolve();
  #workOnService: Promise<void> = Promise.resolve();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#key = `${parts.owner} ${parts.name}`;
    this.#known = knownDrafts(this.#key);
    const { others, elsewhere, isBehind } = this.#known;
    const service = elsewhere ? "elsewhere" : "none";
    this.#state = { here: "none", service, elsewhere: elsewhere?.kept?.current, others };
    if (isBehind) this.#onServiceLater();
    this.#remove = addOpenDraft(this);
    document.addEventListener("visibilitychange", this.#onHidden);
    addEventListener("pagehide", this.#onHidden);
  }

  get state(): DraftState {
    return this.#state;
  }

  get owner(): string {
    return this.#parts.owner;
  }

  get name(): string {
    return this.#parts.name;
  }

  get isOnService(): boolean {
    return this.#state.service === "kept";
  }

  /** Whether there are changes since the last version, stored or not. */
  get hasDraft(): boolean {
    return this.#known.changedAt > 0;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Is called after each change of the text. */
  changed(): void {
    if (this.#isClosed) return;
    const now = Date.now();
    this.#known.changedAt = now;
    this.#count();
    this.#waitsSince ??= now;
    clearTimeout(this.#here);
    const left = this.#waitsSince + hereMs.max - now;
    this.#here = setTimeout(this.#keepHere, Math.max(0, Math.min(hereMs.quiet, left)));
    this.#onServiceLater();
  }

  /** Stores what is not stored yet, in this browser and on the service. */
  async flush(): Promise<void> {
    if (this.#service !== undefined) this.#keepOnService();
    await Promise.all([this.flushHere(), this.#workOnService]);
  }

  /** Deletes the draft, because it was saved as a version or is not wanted any more. */
  async drop(): Promise<void> {
    this.#known.changedAt = 0;
    await this.#keepNow();
  }

  /** Deletes a draft that waits. */
  async dropOther(other: KeptDraft): Promise<void> {
    this.#known.others = this.#known.others.filter((one) => one !== other);
    await this.#keepNow();
  }

  /**
   * Keeps this draft on the service in place of the one that another browser has saved there, which
   * waits from now on until the user decides.
   */
  async keepThis(): Promise<void> {
    Object.assign(this.#known, this.#all());
    this.#known.elsewhere = undefined;
    await this.#keepNow();
  }

  /**
   * Makes another draft the current one, and lets this one wait. Returns false if neither this
   * browser nor the service could store them; then nothing is changed. Otherwise this keeper is
   * closed.
   */
  async change(to: KeptDraft): Promise<boolean> {
    await this.flushHere();
    const mine = this.#drafts();
    if (!mine) return false;
    this.#count();
    const all = this.#all();
    const others = all.others.filter((one) => one !== to);
    if (mine.current) others.push(mine.current);
    const drafts = { current: to, others, history: all.history };
    try {
      await keepDraftsHere(this.#key, drafts);
    } catch {
      try {
        const { name, owner } = this.#parts;
        const known = { ...this.#known, ...all, elsewhere: undefined };
        await sendDrafts({ name, owner, drafts, version: readDraft(to.draft).version, known });
        if (known.elsewhere) return false;
      } catch {
        return false;
      }
    }
    this.close();
    return true;
  }

  /** Stores in this browser what is not stored yet. */
  async flushHere(): Promise<void> {
    if (this.#waitsSince !== undefined) this.#keepHere();
    await this.#workHere;
  }

  [Symbol.dispose](): void {
    if (this.#waitsSince !== undefined) this.#keepHere();
    if (this.#service !== undefined) this.#keepOnService();
    this.close();
    document.removeEventListener("visibilitychange", this.#onHidden);
    removeEventListener("pagehide", this.#onHidden);
  }

  /** Stores nothing more, neither here nor on the service. */
  close(): void {
    this.#isClosed = true;
    this.#stop();
    this.#remove();
  }

  readonly #onHidden = (): void => {
    if (document.visibilityState === "hidden" && this.#waitsSince !== undefined) this.#keepHere();
  };

  readonly #keepHere = (): void => {
    clearTimeout(this.#here);
    this.#waitsSince = undefined;
    const drafts = this.#drafts();
    if (!drafts) {
      this.#change({ here: "failed" });
      return;
    }
    this.#workHere = this.#workHere.then(async () => {
      try {
        this.#addOthers(drafts, await keepDraftsHere(this.#key, drafts));
        this.#change({ here: drafts.current ? "kept" : "none" });
      } catch {
        this.#change({ here: "failed" });
        if (this.#isClosed || this.#known.history !== drafts.history) return;
        this.#here = setTimeout(this.#keepHere, hereAgainMs);
        clearTimeout(this.#service);
        this.#service = undefined;
        this.#onServiceLater();
      }
    });
  };

  #keepOnService(): void {
    clearTimeout(this.#service);
    this.#service = undefined;
    const drafts = this.#drafts();
    if (!drafts) {
      this.#change({ service: "tooLarge" });
      return;
    }
    const { name, owner, baseVersion } = this.#parts;
    const sending = { name, owner, drafts, version: baseVersion(), known: this.#known };
    this.#workOnService = this.#workOnService.then(async () => {
      try {
        await sendDrafts(sending);
        const isElsewhere = this.#known.elsewhere !== undefined;
        this.#change({
          service: isElsewhere ? "elsewhere" : drafts.current ? "kept" : "none",
        });
      } catch (error) {
        const state = stateAfter(error);
        this.#change({ service: state });
        if (state === "tooLarge") return;
        this.#onServiceLater(error instanceof ApiError ? error.retryAfterMs : undefined);
      }
    });
  }

  /** Stores the drafts as they are now, in this browser and on the service. */
  async #keepNow(): Promise<void> {
    this.#stop();
    this.#count();
    this.#keepHere();
    this.#keepOnService();
    await Promise.all([this.#workHere, this.#workOnService]);
  }

  #onServiceLater(waitMs = 0): void {
    if (this.#isClosed) return;
    const usual = this.#state.here === "failed" ? serviceMs.alone : serviceMs.usual;
    this.#service ??= setTimeout(() => this.#keepOnService(), Math.max(usual, waitMs));
  }

  /** Notes that the drafts have changed. */
  #count(): void {
    changes += 1;
    this.#known.history = { ...this.#known.history, [page]: changes };
  }

  /** Returns what is kept now; undefined if it is too large to be kept anywhere. */
  #drafts(): KeptDrafts | undefined {
    const { changedAt, others, history } = this.#known;
    try {
      const current = changedAt > 0 ? { ...this.#parts.current(), changedAt, by: page } : undefined;
      return { current, others, history };
    } catch (error) {
      if (error instanceof DraftError && error.reason === "tooLarge") return undefined;
      throw error;
    }
  }

  /** Adds what another tab of this browser has stored meanwhile to the drafts that wait. */
  #addOthers(mine: KeptDrafts, stored: KeptDrafts): void {
    if (!includes(mine, stored)) Object.assign(this.#known, this.#with(stored));
  }

  /** Returns the drafts that wait, with those that another browser has saved meanwhile. */
  #all(): Pick<KnownDrafts, "history" | "etag"> & { readonly others: KeptDraft[] } {
    const { etag, elsewhere } = this.#known;
    const empty = { current: undefined, others: [], history: {} };
    return { ...this.#with(elsewhere?.kept ?? empty), etag: elsewhere?.etag ?? etag };
  }

  /** Returns the drafts that wait, with those of another page. */
  #with(added: KeptDrafts): Pick<KnownDrafts, "history"> & { readonly others: KeptDraft[] } {
    const { others: waiting, history: before } = this.#known;
    const own = { current: undefined, others: waiting, history: before };
    const { current, others, history } = withOthers(own, added, page);
    const isOther = current && current.by !== page;
    return { others: isOther ? [...others, current] : [...others], history };
  }

  #stop(): void {
    clearTimeout(this.#here);
    clearTimeout(this.#service);
    this.#waitsSince = undefined;
    this.#service = undefined;
  }

  /**
   * Notifies the listeners only of what is new: for each update of the page, React walks through
   * the whole edited text to restore its selection.
   */
  #change(changed: Pick<Partial<DraftState>, "here" | "service">): void {
    const { others, elsewhere } = this.#known;
    const now = { ...this.#state, ...changed, others, elsewhere: elsewhere?.kept?.current };
    const { here, service } = this.#state;
    const isSame =
      here === now.here &&
      service === now.service &&
      others === this.#state.others &&
      now.elsewhere === this.#state.elsewhere;
    if (isSame) return;
    this.#state = now;
    for (const listener of this.#listeners) listener();
  }
}

/** Returns what an error of the service means for the draft there. */
function stateAfter(error: unknown): DraftState["service"] {
  if (!(error instanceof ApiError) || isChangedElsewhere(error)) return "failed";
  if (error.reason === "STORAGE_LIMIT") return "full";
  const isTooLarge =
    error.status === 413 || error.violations.some(({ field }) => field === "draft.content");
  return isTooLarge ? "tooLarge" : "failed";
}
