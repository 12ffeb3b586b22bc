import type { Duplex } from "node:stream";
import type { HeldShare } from "../std/held-bytes.ts";
import { closeGraceMs } from "./http.ts";
import type { MessageQueue } from "./message-queue.ts";

/**
 * Counts the bytes of the incomplete message of a socket as they arrive: they are the account's.
 * The caller shrinks the share when the message is complete. Waiting messages are counted by the
 * queue, which is short.
 */
export function countSocketBytes<T>(raw: Duplex, share: HeldShare, queue: MessageQueue<T>): void {
  const count = (chunk: Buffer): void => {
    if (queue.isEnded) return;
    try {
      share.grow(chunk.length);
    } catch (error) {
      queue.fail(error);
      // A client that continues to send is disconnected.
      setTimeout(() => raw.destroy(), closeGraceMs).unref();
    }
  };
  // The bytes are counted before ws joins them into messages.
  raw.prependListener("data", count);
  raw.once("close", () => share[Symbol.dispose]());
}
