/** Work besides drafts of texts that signing out ends for good. */
export type UnsavedKind = "recording" | "upload";

const prefix = "hlust.unsaved";

/**
 * Notes work of a user (identityOf) that is not saved, until the returned function is called. All
 * tabs of the browser know of it, because it is a lock; a tab that is closed or crashes has none.
 */
export function noteUnsaved(owner: string, kind: UnsavedKind, id: string): () => void {
  const done = Promise.withResolvers<void>();
  const name = unsavedLock(owner, kind, id);
  // Pages over http from other machines have no locks, and no one can sign in there.
  if ("locks" in navigator) void navigator.locks.request(name, () => done.promise);
  return done.resolve;
}

/** Returns the ids of the work of a kind that a user has in any tab of this browser. */
export async function unsavedIds(owner: string, kind: UnsavedKind): Promise<readonly string[]> {
  if (!("locks" in navigator)) return [];
  const { held = [], pending = [] } = await navigator.locks.query();
  const names = [...held, ...pending].map(({ name = "" }) => name);
  const [start, end] = [`${prefix} ${kind} `, ` ${owner}`];
  const own = names.filter((name) => name.startsWith(start) && name.endsWith(end));
  return [...new Set(own.map((name) => name.slice(start.length, -end.length)))];
}

/** Returns the name of the lock of unsaved work. */
export function unsavedLock(owner: string, kind: UnsavedKind, id: string): string {
  return `${prefix} ${kind} ${id} ${owner}`;
}

let isClosed = false;

/** Returns whether this tab may store what is not saved: not while its user signs out. */
export function mayStore(): boolean {
  return !isClosed;
}

/** Stores nothing more in this tab, until the returned function is called. */
export function stopStoring(): () => void {
  isClosed = true;
  return () => {
    isClosed = false;
  };
}
