import type { FileHandle } from "node:fs/promises";
import { freeMemory } from "../std/free-memory.ts";

/**
 * The number of bytes to gather before writing. Writing single chunks of 64 kB takes three times as
 * much CPU time (bench/RESULTS.md).
 */
const batchBytesMin = 512 * 1024;
/**
 * The maximum time between writes of slow input, so that the file's modification time shows that it
 * is in use.
 */
const gatherMsMax = 10_000;
/**
 * The number of bytes between early syncs, which keep the last sync short. Without them, the last
 * sync would write everything.
 */
const syncEveryBytes = 64 * 1024 * 1024;

/**
 * Writes chunks to an empty file. Gathers chunks while earlier chunks are being written, so that
 * the thread never waits for the disk. Chunks are not copied, so they must not change after they
 * are added. Disposing waits for pending writes; the file handle must stay open until then.
 */
export class FileWriter implements AsyncDisposable {
  readonly #handle: FileHandle;
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  readonly #ownsChunks: boolean;
  readonly #now: () => number;
  #flushedAt: number;
  #unsyncedBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #syncing: Promise<void> | undefined;

  /**
   * `ownsChunks`: no other code uses the chunks, so their memory is freed once they are written.
   */
  constructor(
    handle: FileHandle,
    {
      ownsChunks = false,
      now = Date.now,
    }: { readonly ownsChunks?: boolean; readonly now?: () => number } = {},
  ) {
    this.#handle = handle;
    this.#ownsChunks = ownsChunks;
    this.#now = now;
    this.#flushedAt = now();
  }

  /**
   * Resolves when there is room for the next chunk. Throws the error of an earlier write, if any.
   */
  async add(chunk: Uint8Array): Promise<void> {
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.length;
    const isLate = this.#now() - this.#flushedAt > gatherMsMax;
    if (this.#gatheredBytes >= batchBytesMin || isLate) await this.#flush();
  }

  /** Resolves when all chunks are on the disk. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#writing;
    // The kernel reports a failed write to only one sync.
    await this.#syncing;
    await this.#handle.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A write may begin a sync.
    await this.#writing.catch(() => {});
    await this.#syncing?.catch(() => {});
  }

  /** Starts writing the gathered chunks once the last write has ended. */
  async #flush(): Promise<void> {
    await this.#writing;
    this.#flushedAt = this.#now();
    const batch = this.#gathered;
    const bytes = this.#gatheredBytes;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    if (bytes === 0) return;
    this.#writing = this.#write(batch, bytes);
    // The next add() or end() throws the error.
    this.#writing.catch(() => {});
  }

  async #write(batch: readonly Uint8Array[], bytes: number): Promise<void> {
    const { bytesWritten } = await this.#handle.writev(batch);
    if (bytesWritten < bytes) await this.#writeRest(batch, bytesWritten);
    if (this.#ownsChunks) batch.forEach((chunk) => freeMemory(chunk));
    this.#unsyncedBytes += bytes;
    if (this.#unsyncedBytes >= syncEveryBytes) await this.#beginSync();
  }

  /**
   * Writes the rest of a batch after a partial write, or fails with the reason why the write was
   * partial.
   */
  async #writeRest(batch: readonly Uint8Array[], written: number): Promise<void> {
    const all = Buffer.concat(batch);
    for (let at = written; at < all.length;) {
      const { bytesWritten } = await this.#handle.write(all, at);
      at += bytesWritten;
    }
  }

  async #beginSync(): Promise<void> {
    await this.#syncing;
    this.#unsyncedBytes = 0;
    this.#syncing = this.#handle.datasync();
    this.#syncing.catch(() => {});
  }
}
