import { isEmpty, type KeptDrafts, mergedDrafts, readKeptDrafts } from "./kept-drafts.ts";

const storeName = "drafts";
/** Drafts that were not changed for this long are deleted. */
const ageMsMax = 30 * 24 * 3_600_000;

/**
 * Reads the drafts of a user and a transcript from this browser. Returns undefined if there are
 * none, if they are damaged, and in browsers that store nothing.
 */
export async function readDraftsHere(key: string): Promise<KeptDrafts | undefined> {
  try {
    return readKeptDrafts(await inStore<unknown>("readonly", (store) => store.get(key)));
  } catch {
    return undefined;
  }
}

/**
 * Stores drafts in this browser, on its disk, and returns what it has now: drafts that another tab
 * has stored meanwhile stay. Throws if the browser refuses, for example because its quota is full.
 */
export async function keepDraftsHere(key: string, drafts: KeptDrafts): Promise<KeptDrafts> {
  const database = await open();
  try {
    const { store, done } = begin(database, "readwrite");
    let merged = drafts;
    const request: IDBRequest<unknown> = store.get(key);
    request.addEventListener("success", () => {
      const before = readKeptDrafts(request.result);
      if (before) merged = mergedDrafts(drafts, before);
      if (isEmpty(merged)) store.delete(key);
      else store.put({ ...merged, changedAt: latest(merged) }, key);
    });
    await done;
    return merged;
  } finally {
    database.close();
  }
}

/** Returns when drafts were last changed. */
function latest({ current, others }: KeptDrafts): number {
  return Math.max(0, ...[current, ...others].map((one) => one?.changedAt ?? 0));
}

/** Returns the names of the transcripts of which this browser has drafts of a user (identityOf). */
export async function draftNamesHere(owner: string): Promise<readonly string[]> {
  const before = `${owner} `;
  try {
    const keys = await inStore("readonly", (store) => store.getAllKeys());
    return keys.flatMap((key) =>
      typeof key === "string" && key.startsWith(before) ? [key.slice(before.length)] : [],
    );
  } catch {
    return [];
  }
}

/** Deletes drafts that were not changed for 30 days. */
export async function dropOldDrafts(now = Date.now()): Promise<void> {
  const database = await open();
  const { store, done } = begin(database, "readwrite");
  const request = store.openCursor();
  request.addEventListener("success", () => {
    const cursor = request.result;
    if (!cursor) return;
    const kept: { readonly changedAt?: number } = cursor.value;
    if (now - (kept.changedAt ?? 0) > ageMsMax) cursor.delete();
    cursor.continue();
  });
  await done;
  database.close();
}

async function inStore<Result>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const database = await open();
  try {
    const { store, done } = begin(database, mode);
    const request = act(store);
    await done;
    return request.result;
  } finally {
    database.close();
  }
}

/** Begins a transaction. `done` settles when all of it is on the disk, or when it has failed. */
function begin(database: IDBDatabase, mode: IDBTransactionMode) {
  const transaction = database.transaction(storeName, mode, { durability: "strict" });
  const done = new Promise<void>((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    for (const name of ["error", "abort"] as const) {
      transaction.addEventListener(name, () =>
        reject(transaction.error ?? new Error("the browser could not store the draft")),
      );
    }
  });
  return { store: transaction.objectStore(storeName), done };
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("hlust-drafts", 1);
    request.addEventListener("upgradeneeded", () => request.result.createObjectStore(storeName));
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () =>
      reject(request.error ?? new Error("the browser stores nothing")),
    );
  });
}
