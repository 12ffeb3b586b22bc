import { keepSession } from "../kept-sessions.ts";
import { readDraftsHere } from "../saving/draft-database.ts";

/** How long another tab has to store its draft before its text is taken from it. */
const handOverMs = 4_000;

const lockName = (key: string): string => `hlust.edit ${key}`;

/** The texts that this tab edits, each with the function that gives it to other tabs. */
const held = new Map<string, () => void>();
const holders = new Map<string, () => void>();
let channel: BroadcastChannel | undefined;

/**
 * Makes this tab the only one of the browser in which a user edits a text. `key` is the user with
 * the transcript's name. Returns false if another tab edits it.
 */
export async function takeText(key: string): Promise<boolean> {
  // Browsers have locks only over HTTPS and on localhost.
  if (!isSecureContext || held.has(key)) return true;
  return await request(key, { ifAvailable: true });
}

/** Makes this tab the one that edits a text. Another tab stores its draft and goes to reading. */
export async function takeTextOver(key: string): Promise<void> {
  if (!isSecureContext || held.has(key)) return;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is about windows; a channel has one origin
  tabs().postMessage(key);
  const isTaken = await request(key, { signal: AbortSignal.timeout(handOverMs) });
  if (!isTaken) await request(key, { steal: true });
}

/** Lets other tabs edit a text. */
export function giveText(key: string): void {
  held.get(key)?.();
  held.delete(key);
}

/**
 * Calls a listener when another tab wants to edit the text that this tab edits. It must store the
 * draft, stop editing, and give the text. Returns a function that removes the listener.
 */
export function whenAskedForText(key: string, listener: () => void): () => void {
  holders.set(key, listener);
  return () => {
    if (holders.get(key) === listener) holders.delete(key);
  };
}

function request(key: string, options: LockOptions): Promise<boolean> {
  tabs();
  return new Promise((resolve) => {
    const hold = (lock: Lock | null): Promise<void> | undefined => {
      if (!lock) {
        resolve(false);
        return undefined;
      }
      return new Promise((give) => {
        held.set(key, give);
        resolve(true);
      });
    };
    navigator.locks.request(lockName(key), options, hold).catch(() => {
      // The lock was not given in time, or it was stolen.
      resolve(false);
      if (held.delete(key)) void leave(key);
    });
  });
}

async function leave(key: string): Promise<void> {
  const stop = holders.get(key);
  if (stop) {
    stop();
    return;
  }
  // The text is on no page of this tab, but its changes may be nowhere else.
  if (await readDraftsHere(key)) keepSession(key, undefined);
  giveText(key);
}

function tabs(): BroadcastChannel {
  if (!channel) {
    channel = new BroadcastChannel("hlust.edit");
    channel.addEventListener("message", ({ data }: MessageEvent<string>) => {
      if (held.has(data)) void leave(data);
    });
  }
  return channel;
}
