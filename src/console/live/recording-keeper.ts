import { mayStore } from "../api/unsaved-work.ts";
import {
  dropRecording,
  openRecordings,
  storePart,
  type RecordingFacts,
  type RecordingPart,
} from "./recording-store.ts";
import type { Utterance } from "./spoken.ts";

/** The audio that is stored at once, unless there are words to store: a crash loses little more. */
const partSeconds = 0.4;

/**
 * Stores a live recording in this browser while it grows, so that it survives a reload and a crash.
 * One part is stored at a time; what arrives meanwhile is in the next one.
 */
export class RecordingKeeper {
  readonly #facts: RecordingFacts;
  readonly #onProblem: () => void;
  #database: Promise<IDBDatabase> | undefined;
  #start: number;
  #samples: Int16Array<ArrayBuffer>[] = [];
  #sampleCount = 0;
  #utterances: readonly Utterance[];
  #stored: readonly Utterance[];
  #isStoring = false;
  #isDropped = false;

  /**
   * `stored` is what the browser already has of the recording. `onProblem` is called when the
   * browser refuses to store more, for example because its disk is full.
   */
  constructor(
    facts: RecordingFacts,
    stored: { readonly length: number; readonly utterances: readonly Utterance[] },
    onProblem: () => void,
  ) {
    this.#facts = facts;
    this.#start = stored.length;
    this.#utterances = stored.utterances;
    this.#stored = stored.utterances;
    this.#onProblem = onProblem;
  }

  /** Adds audio, which the caller does not change any more. */
  add(samples: Int16Array<ArrayBuffer>): void {
    this.#samples.push(samples);
    this.#sampleCount += samples.length;
    if (this.#sampleCount >= partSeconds * this.#facts.rate) this.flush();
  }

  /** Sets all final results. */
  setUtterances(utterances: readonly Utterance[]): void {
    this.#utterances = utterances;
    this.flush();
  }

  /** Stores what is not stored yet. */
  flush(): void {
    if (this.#isStoring) return;
    this.#isStoring = true;
    void this.#storeAll().finally(() => {
      this.#isStoring = false;
    });
  }

  /** Deletes the recording, which was saved or discarded. */
  drop(): void {
    this.#isDropped = true;
    void this.#database?.then((database) => database.close()).catch(() => {});
    void dropRecording(this.#facts.id).catch(() => {});
  }

  async #storeAll(): Promise<void> {
    while (this.#hasMore()) {
      const part = this.#takePart();
      try {
        this.#database ??= openRecordings();
        const database = await this.#database;
        if (this.#isDropped) return;
        await storePart(database, this.#facts, part);
      } catch {
        // The browser has closed the database, or its quota is used up: the part is stored later.
        this.#database = undefined;
        this.#samples = [part.samples, ...this.#samples];
        this.#sampleCount += part.samples.length;
        this.#start = part.start;
        this.#stored = this.#stored.slice(0, part.firstUtterance);
        this.#onProblem();
        return;
      }
    }
  }

  #hasMore(): boolean {
    if (this.#isDropped || !mayStore()) return false;
    return this.#sampleCount > 0 || this.#utterances !== this.#stored;
  }

  #takePart(): RecordingPart {
    const samples = new Int16Array(this.#sampleCount);
    let at = 0;
    for (const chunk of this.#samples) {
      samples.set(chunk, at);
      at += chunk.length;
    }
    const firstUtterance = sameStart(this.#stored, this.#utterances);
    const utterances = this.#utterances.slice(firstUtterance);
    const part = { start: this.#start, samples, firstUtterance, utterances };
    this.#samples = [];
    this.#sampleCount = 0;
    this.#start += samples.length;
    this.#stored = this.#utterances;
    return part;
  }
}

/** Returns how many utterances at the start of two lists are the same. */
function sameStart(one: readonly Utterance[], other: readonly Utterance[]): number {
  let at = Math.min(one.length, other.length);
  while (at > 0 && one[at - 1] !== other[at - 1]) at -= 1;
  return at;
}
