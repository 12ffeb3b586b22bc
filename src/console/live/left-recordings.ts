import { useEffect, useState } from "react";
import { unsavedLock } from "../api/unsaved-work.ts";
import {
  dropRecording,
  readRecording,
  storedRecordings,
  type StoredRecording,
} from "./recording-store.ts";

/** A live recording that a page has left without saving it, because it was reloaded or crashed. */
export interface LeftRecording {
  readonly recording: StoredRecording;
  readonly read: () => ReturnType<typeof readRecording>;
  /**
   * Takes the recording from the list. Returns a function that lets other tabs have it again, for
   * when it is saved or discarded.
   */
  readonly take: () => () => void;
  readonly discard: () => void;
}

/**
 * Returns the recordings of a user (identityOf) that no tab has open. Each of them is offered by
 * one tab of the browser: the one that gets its lock.
 */
export function useLeftRecordings(owner: string): readonly LeftRecording[] {
  const [left, setLeft] = useState<readonly LeftRecording[]>([]);
  useEffect(() => {
    const closed = new AbortController();
    void offerAll(owner, closed.signal, setLeft).catch(() => {
      // A browser that stores nothing has nothing to offer.
    });
    return () => {
      closed.abort();
      setLeft([]);
    };
  }, [owner]);
  return left;
}

type Change = (change: (left: readonly LeftRecording[]) => readonly LeftRecording[]) => void;

async function offerAll(owner: string, signal: AbortSignal, change: Change): Promise<void> {
  for (const { id } of await storedRecordings(owner)) {
    void navigator.locks
      .request(unsavedLock(owner, "recording", id), { signal }, () =>
        offer({ owner, id, signal, change }),
      )
      .catch(() => {
        // The page was left while another tab had the recording.
      });
  }
}

/** Offers a recording whose lock this tab has. Resolves when the lock is not needed any more. */
async function offer({
  owner,
  id,
  signal,
  change,
}: {
  readonly owner: string;
  readonly id: string;
  readonly signal: AbortSignal;
  readonly change: Change;
}): Promise<void> {
  // The tab that had the lock before may have saved or discarded the recording.
  const recording = (await storedRecordings(owner)).find((one) => one.id === id);
  if (!recording || signal.aborted) return;
  const done = Promise.withResolvers<void>();
  let taken: Promise<void> | undefined;
  const withdraw = (): void => change((left) => left.filter((one) => one.recording.id !== id));
  signal.addEventListener("abort", () => done.resolve());
  const offered: LeftRecording = {
    recording,
    read: () => readRecording(id),
    take() {
      const released = Promise.withResolvers<void>();
      // The lock stays with this tab, also when the page is left.
      taken = released.promise;
      done.resolve();
      withdraw();
      return released.resolve;
    },
    discard() {
      withdraw();
      void dropRecording(id)
        .catch(() => {})
        .finally(done.resolve);
    },
  };
  change((left) => [...left, offered]);
  await done.promise;
  await taken;
}
