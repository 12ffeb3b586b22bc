import { readKept, keep } from "../api/kept.ts";
import { databaseName } from "./delete-recordings.ts";
import type { SpokenWord, Utterance } from "./spoken.ts";

/** What is stored of a live recording besides its audio and its words. */
export interface RecordingFacts {
  readonly id: string;
  /** The user who spoke (identityOf). */
  readonly owner: string;
  /** The number of samples per second. */
  readonly rate: number;
  readonly languageCode: string;
  /** In ms since 1970. */
  readonly startedAtMs: number;
}

/** A live recording as this browser stores it. */
export interface StoredRecording extends RecordingFacts {
  /** The number of samples. */
  readonly length: number;
}

/** What is added to a stored recording in one transaction. */
export interface RecordingPart {
  /** The position of `samples` in the recording. */
  readonly start: number;
  readonly samples: Int16Array<ArrayBuffer>;
  /** Final results, from number `firstUtterance` on, which replace those stored from there on. */
  readonly firstUtterance: number;
  readonly utterances: readonly Utterance[];
}

const stores = ["recordings", "audio", "words"] as const;
const droppedName = "hlust.dropped-recordings";
/** Recordings that were begun before this time are deleted. */
const ageMsMax = 30 * 24 * 3_600_000;
/** The number of stored parts that are read into one Blob. */
const partsPerBlob = 64;

/** Stores a part of a recording, on the browser's disk. Throws if the browser refuses. */
export async function storePart(
  database: IDBDatabase,
  facts: RecordingFacts,
  { start, samples, firstUtterance, utterances }: RecordingPart,
): Promise<void> {
  const transaction = database.transaction(stores, "readwrite", { durability: "strict" });
  const { id } = facts;
  const length = start + samples.length;
  transaction.objectStore("recordings").put({ ...facts, length } satisfies StoredRecording, id);
  if (samples.length > 0) transaction.objectStore("audio").put(samples, [id, start]);
  const words = transaction.objectStore("words");
  words.delete(IDBKeyRange.bound([id, firstUtterance], [id, Infinity]));
  for (const [at, utterance] of utterances.entries()) {
    words.put(utterance.words, [id, firstUtterance + at]);
  }
  await doneOf(transaction);
}

/**
 * Returns the stored recordings of a user (identityOf), the oldest first. Those that were dropped,
 * and those that are older than 30 days, are deleted.
 */
export async function storedRecordings(
  owner: string,
  now = Date.now(),
): Promise<readonly StoredRecording[]> {
  if (!(await isStored())) return [];
  const database = await openRecordings();
  try {
    const transaction = database.transaction("recordings");
    const request: IDBRequest<StoredRecording[]> = transaction.objectStore("recordings").getAll();
    await doneOf(transaction);
    const dropped = new Set(droppedIds());
    const isGone = ({ id, startedAtMs }: StoredRecording): boolean =>
      dropped.has(id) || now - startedAtMs > ageMsMax;
    for (const one of request.result.filter(isGone)) await deleteRecording(database, one.id);
    return request.result
      .filter((one) => one.owner === owner && !isGone(one))
      .toSorted((a, b) => a.startedAtMs - b.startedAtMs);
  } finally {
    database.close();
  }
}

/** Reads the audio of a recording, in Blobs of LINEAR16, and its final results. */
export async function readRecording(
  id: string,
): Promise<{ readonly audio: readonly Blob[]; readonly words: readonly SpokenWord[][] }> {
  const database = await openRecordings();
  try {
    const audio: Blob[] = [];
    let after = -1;
    for (;;) {
      const range = IDBKeyRange.bound([id, after], [id, Infinity], true);
      const transaction = database.transaction("audio");
      const store = transaction.objectStore("audio");
      const parts: IDBRequest<Int16Array<ArrayBuffer>[]> = store.getAll(range, partsPerBlob);
      const keys = store.getAllKeys(range, partsPerBlob);
      await doneOf(transaction);
      if (parts.result.length === 0) break;
      audio.push(new Blob(parts.result));
      const last = keys.result.at(-1);
      after = Array.isArray(last) && typeof last[1] === "number" ? last[1] : Infinity;
    }
    const transaction = database.transaction("words");
    const range = IDBKeyRange.bound([id, 0], [id, Infinity]);
    const words: IDBRequest<SpokenWord[][]> = transaction.objectStore("words").getAll(range);
    await doneOf(transaction);
    return { audio, words: words.result };
  } finally {
    database.close();
  }
}

/**
 * Deletes a recording that was saved or discarded. It is gone at once, even if the page is closed
 * before the browser has deleted it.
 */
export async function dropRecording(id: string): Promise<void> {
  writeDropped([...droppedIds(), id]);
  const database = await openRecordings();
  try {
    await deleteRecording(database, id);
  } finally {
    database.close();
  }
}

export function openRecordings(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(databaseName, 1);
    request.addEventListener("upgradeneeded", () => {
      for (const store of stores) request.result.createObjectStore(store);
    });
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () =>
      reject(request.error ?? new Error("the browser stores nothing")),
    );
  });
}

/** Returns whether there is a database, so that looking for recordings does not create one. */
async function isStored(): Promise<boolean> {
  const all = await indexedDB.databases();
  return all.some(({ name }) => name === databaseName);
}

async function deleteRecording(database: IDBDatabase, id: string): Promise<void> {
  const transaction = database.transaction(stores, "readwrite");
  transaction.objectStore("recordings").delete(id);
  const all = IDBKeyRange.bound([id, 0], [id, Infinity]);
  for (const store of ["audio", "words"] as const) transaction.objectStore(store).delete(all);
  await doneOf(transaction);
  writeDropped(droppedIds().filter((dropped) => dropped !== id));
}

function droppedIds(): readonly string[] {
  return (readKept(droppedName) ?? "").split(" ").filter((id) => id !== "");
}

function writeDropped(ids: readonly string[]): void {
  keep(droppedName, ids.length === 0 ? undefined : [...new Set(ids)].join(" "));
}

/** Settles when all of a transaction is done, or when it has failed. */
function doneOf(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    for (const name of ["error", "abort"] as const) {
      transaction.addEventListener(name, () =>
        reject(transaction.error ?? new Error("the browser could not store the recording")),
      );
    }
  });
}
