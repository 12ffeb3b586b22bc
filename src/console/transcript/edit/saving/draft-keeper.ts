import { ApiError } from "../../../api/api-error.ts";
import { keepEtag, keptEtag } from "../kept-sessions.ts";
import { addOpenDraft, type OpenDraft } from "../../../api/open-drafts.ts";
import { DraftError } from "../model/draft.ts";
import { dropDraftHere, keepDraftHere, type KeptDraft } from "./draft-database.ts";
import { dropServiceDraft, saveServiceDraft } from "./draft-service.ts";

/** How long after the last change the draft is stored in this browser, and the longest wait. */
const hereMs = { quiet: 400, max: 2_000 };
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
   * service does not accept a draft of this size.
   */
  readonly service: "none" | "kept" | "failed" | "elsewhere" | "tooLarge";
}

interface KeeperParts {
  /** The user (identityOf) whose draft it is. Someone else may be signed in by now. */
  readonly owner: string;
  /** The name of the transcript. */
  readonly name: string;
  /** Returns the id of the version that is edited. */
  readonly baseVersion: () => string;
  /** Returns the draft as it is now. */
  readonly current: () => Omit<KeptDraft, "changedAt">;
}

/** Keeps the draft of an edited text, in this browser and on the service. */
export class DraftKeeper implements Disposable, OpenDraft {
  readonly #parts: KeeperParts;
  readonly #key: string;
  readonly #listeners = new Set<() => void>();
  readonly #remove: () => void;
  #state: DraftState = { here: "none", service: "none" };
  #etag: string | undefined;
  #changedAt = 0;
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
    this.#etag = keptEtag(this.#key);
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
    return this.#changedAt > 0;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Is called after each change of the text. */
  changed(): void {
    if (this.#isClosed) return;
    const now = Date.now();
    this.#changedAt = now;
    this.#waitsSince ??= now;
    clearTimeout(this.#here);
    const left = this.#waitsSince + hereMs.max - now;
    this.#here = setTimeout(this.#keepHere, Math.max(0, Math.min(hereMs.quiet, left)));
    this.#onServiceLater();
  }

  /** Stores what is not stored yet, in this browser and on the service. */
  async flush(): Promise<void> {
    if (this.#waitsSince !== undefined) this.#keepHere();
    if (this.#service !== undefined) this.#keepOnService();
    await Promise.all([this.#workHere, this.#workOnService]);
  }

  /** Deletes the draft, because it was saved as a version or is not wanted any more. */
  async drop(): Promise<void> {
    this.#stop();
    this.#changedAt = 0;
    const { owner, name } = this.#parts;
    const hasOnService = this.#etag !== undefined;
    this.#setEtag(undefined);
    this.#workHere = this.#workHere.then(() => dropDraftHere(this.#key));
    this.#workOnService = this.#workOnService.then(async () => {
      if (hasOnService) await dropServiceDraft(name, owner);
    });
    await Promise.all([this.#workHere, this.#workOnService]);
    this.#change({ here: "none", service: "none" });
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
    const draft = this.#draft();
    if (!draft) {
      this.#change({ here: "failed" });
      return;
    }
    this.#workHere = this.#workHere.then(async () => {
      try {
        await keepDraftHere(this.#key, draft);
        this.#change({ here: "kept" });
      } catch {
        this.#change({ here: "failed" });
        if (this.#isClosed || this.#changedAt !== draft.changedAt) return;
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
    if (this.#state.service === "elsewhere") return;
    const kept = this.#draft();
    if (!kept) {
      this.#change({ service: "tooLarge" });
      return;
    }
    const { owner, name } = this.#parts;
    const baseVersion = this.#parts.baseVersion();
    this.#workOnService = this.#workOnService.then(async () => {
      try {
        this.#setEtag(await saveServiceDraft(name, { kept, baseVersion, etag: this.#etag, owner }));
        this.#change({ service: "kept" });
      } catch (error) {
        const state = stateAfter(error);
        this.#change({ service: state });
        if (state !== "failed") return;
        this.#onServiceLater(error instanceof ApiError ? error.retryAfterMs : undefined);
      }
    });
  }

  #onServiceLater(waitMs = 0): void {
    if (this.#isClosed) return;
    const usual = this.#state.here === "failed" ? serviceMs.alone : serviceMs.usual;
    this.#service ??= setTimeout(() => this.#keepOnService(), Math.max(usual, waitMs));
  }

  #setEtag(etag: string | undefined): void {
    this.#etag = etag;
    keepEtag(this.#key, etag);
  }

  /** Returns the draft as it is now; undefined if it is too large to be kept anywhere. */
  #draft(): KeptDraft | undefined {
    try {
      return { ...this.#parts.current(), changedAt: this.#changedAt };
    } catch (error) {
      if (error instanceof DraftError && error.reason === "tooLarge") return undefined;
      throw error;
    }
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
  #change({ here = this.#state.here, service = this.#state.service }: Partial<DraftState>): void {
    if (here === this.#state.here && service === this.#state.service) return;
    this.#state = { here, service };
    for (const listener of this.#listeners) listener();
  }
}

/** Returns what an error of the service means for the draft there. */
function stateAfter(error: unknown): DraftState["service"] {
  if (!(error instanceof ApiError)) return "failed";
  if (error.reason === "DRAFT_CHANGED") return "elsewhere";
  const isTooLarge =
    error.status === 413 || error.violations.some(({ field }) => field === "draft.content");
  return isTooLarge ? "tooLarge" : "failed";
}
