import type { FileHandle } from "node:fs/promises";

/**
 * What is gathered before it is written: chunks of 64 kB, one by one, take three times the CPU.
 * bench/RESULTS.md has the figures.
 */
const batchBytesMin = 512 * 1024;
/**
 * What comes slowly is written now and then, so that everybody sees by its time that the file is
 * written to.
 */
const gatherMsMax = 10_000;
/**
 * So often the disk is told to take what is written, so that the last sync is short: it would else
 * take all of it at the end.
 */
const syncEveryBytes = 64 * 1024 * 1024;

/**
 * Writes chunks to the end of an empty file: gathers some while the last ones are being written, so
 * that the thread never waits for the disk. Chunks are not copied: nobody may change one that was
 * added. Disposing waits for what is under way, which the handle has to outlive.
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

  /** `ownsChunks`: nobody else has the chunks, whose memory is given back once they are written. */
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
   * Resolves when there is room for the next chunk. Throws what an earlier write has failed with.
   */
  async add(chunk: Uint8Array): Promise<void> {
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.length;
    const isLate = this.#now() - this.#flushedAt > gatherMsMax;
    if (this.#gatheredBytes >= batchBytesMin || isLate) await this.#flush();
  }

  /** Resolves when all that was added is on the disk. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#writing;
    // A failure that an early sync was told of is not told again.
    await this.#syncing;
    await this.#handle.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A write may begin a sync.
    await this.#writing.catch(() => {});
    await this.#syncing?.catch(() => {});
  }

  /** Begins to write what is gathered once the last write has ended. */
  async #flush(): Promise<void> {
    await this.#writing;
    this.#flushedAt = this.#now();
    const batch = this.#gathered;
    const bytes = this.#gatheredBytes;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    if (bytes === 0) return;
    this.#writing = this.#write(batch, bytes);
    // Whoever adds or ends next is told.
    this.#writing.catch(() => {});
  }

  async #write(batch: readonly Uint8Array[], bytes: number): Promise<void> {
    const { bytesWritten } = await this.#handle.writev(batch);
    if (bytesWritten < bytes) await this.#writeRest(batch, bytesWritten);
    if (this.#ownsChunks) batch.forEach(giveBack);
    this.#unsyncedBytes += bytes;
    if (this.#unsyncedBytes >= syncEveryBytes) await this.#beginSync();
  }

  /** The disk took a part: the next try takes more, or tells why not. */
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

/**
 * The garbage collector counts memory that lies outside of its heap, and goes through all of the
 * heap for every few hundred chunks: more than half of the CPU of an upload. Chunks that share
 * their memory with others stay.
 */
function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
