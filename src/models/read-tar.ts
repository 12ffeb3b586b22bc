import { Parser, type ReadEntry } from "tar";
import { ServiceError } from "../std/service-error.ts";

/**
 * Passes the entries of a tar archive to `take`, one at a time. `take` must call resume() on an
 * entry that it does not read, and receives every entry type that the format has. Throws what
 * `take` throws, and throws ServiceError "data_loss" for data that is truncated or is not a tar
 * archive.
 */
export async function readTar(
  source: AsyncIterable<Uint8Array>,
  take: (entry: ReadEntry) => Promise<void>,
): Promise<void> {
  const reader = new TarReader(take);
  try {
    let head = Buffer.alloc(0);
    let isStarted = false;
    for await (const chunk of source) {
      head = isStarted ? head : Buffer.concat([head, chunk]);
      if (!isStarted && head.length < headBytes) continue;
      await reader.write(isStarted ? chunk : plain(head));
      isStarted = true;
    }
    if (!isStarted) throw broken("it is too short");
  } catch (error) {
    await reader.abort();
    throw error;
  }
  await reader.end();
}

/** The size of a tar header. */
const headBytes = 512;

/**
 * Throws if the data is compressed twice, because the parser would decompress it without our
 * limits.
 */
function plain(head: Buffer): Buffer {
  if (head.readUInt16BE(0) === 0x1f8b) throw broken("it is compressed twice");
  return head;
}

/** The parser, with its events exposed as promises. */
class TarReader {
  readonly #parser = new Parser({ strict: true, zstd: false });
  readonly #taken = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;
  #isWhole = false;
  #wake = (): void => {};

  constructor(take: (entry: ReadEntry) => Promise<void>) {
    const parser = this.#parser;
    const start = (entry: ReadEntry): void => {
      if (this.#failure) {
        entry.resume();
        return;
      }
      const work = take(entry).catch((error: unknown) => {
        this.#fail(error);
        entry.resume();
      });
      this.#taken.add(work);
      void work.finally(() => this.#taken.delete(work));
    };
    parser.on("entry", start).on("ignoredEntry", start);
    parser.on("error", (error: Error) => {
      this.#fail(broken(error.message, error));
    });
    parser.on("eof", () => {
      this.#isWhole = true;
    });
    parser.on("drain", () => {
      this.#wake();
    });
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#throwFailure();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    if (!this.#parser.write(chunk) && !this.#failure) await promise;
    this.#throwFailure();
  }

  async end(): Promise<void> {
    this.#parser.end();
    await this.#allTaken();
    this.#throwFailure();
    if (!this.#isWhole) throw broken("its end is missing");
  }

  /** Ends the current entry prematurely. */
  async abort(): Promise<void> {
    this.#parser.end();
    await this.#allTaken();
  }

  /** Waits until all entries are processed. The end of one entry begins the next. */
  async #allTaken(): Promise<void> {
    while (this.#taken.size > 0) await Promise.all(this.#taken);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}

function broken(why: string, cause?: unknown): ServiceError {
  return new ServiceError("data_loss", `the archive is broken: ${why}`, { cause });
}
