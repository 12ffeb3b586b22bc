import { open, rm, type FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../std/service-error.ts";
import { replaceFile, writeAll } from "./durable-files.ts";
import { openDownload, type DownloadAnswer, type DownloadLimits } from "./download-answer.ts";
import { notePath, readNote, thisBoot, type PartNote } from "./part-note.ts";

export interface DownloadOptions {
  readonly url: string;
  /** Where it is put; what a broken try left there is gone on with. */
  readonly part: string;
  /** As published. */
  readonly bytes?: number;
  /**
   * Whether the content is checked against a checksum later: then a part that outlived a power cut
   * may be gone on with.
   */
  readonly isChecked: boolean;
  readonly limits: DownloadLimits;
  /** Told before anything is written: so many bytes are still to come. */
  readonly onLength: (remainingBytes: number) => Promise<void>;
  readonly onProgress: (receivedBytes: number, totalBytes: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Downloads a file over as many connections as it takes, and syncs it. Its length is known and
 * exact at the end; what is in it is for others to check. Throws ServiceError; the part stays for
 * the next try unless it was of no use.
 */
export async function downloadFile(options: DownloadOptions): Promise<void> {
  const { limits, signal } = options;
  await using handle = await open(options.part, "a+", 0o644);
  const part = await Part.open(handle, options);
  let tries = 0;
  for (;;) {
    const before = part.received;
    try {
      await part.fetchRest();
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ServiceError) || error.code !== "unavailable") throw error;
      tries = part.received - before >= limits.triedBytesMin ? 1 : tries + 1;
      if (tries >= limits.triesMax) throw error;
      await sleep(limits.backoffMs * 2 ** (tries - 1), undefined, signal ? { signal } : {});
    }
  }
}

/** Forgets what was downloaded so far. */
export async function deletePart(part: string): Promise<void> {
  for (const path of [part, notePath(part)]) await rm(path, { force: true });
}

/** What is here of a file. */
class Part {
  readonly #handle: FileHandle;
  readonly #options: DownloadOptions;
  #note: PartNote | undefined;
  #received: number;

  private constructor(handle: FileHandle, options: DownloadOptions) {
    this.#handle = handle;
    this.#options = options;
    this.#received = 0;
  }

  static async open(handle: FileHandle, options: DownloadOptions): Promise<Part> {
    const part = new Part(handle, options);
    const note = await readNote(options);
    const { size } = await handle.stat();
    if (note && size <= note.totalBytes) {
      part.#note = note;
      part.#received = size;
    }
    return part;
  }

  get received(): number {
    return this.#received;
  }

  async fetchRest(): Promise<void> {
    const { url, onLength, onProgress } = this.#options;
    if (this.#note && this.#received === this.#note.totalBytes) return;
    await using answer = await openDownload({
      ...this.#options,
      ...(this.#received > 0 &&
        this.#note?.validator !== undefined && {
          rest: { from: this.#received, validator: this.#note.validator },
        }),
    });
    const total = await this.#accept(answer);
    await onLength(total - this.#received);
    onProgress(this.#received, total);
    for await (const chunk of answer.body()) {
      if (this.#received + chunk.length > total) {
        await this.#startOver();
        throw new ServiceError(
          "data_loss",
          `${url}: more than the ${total} bytes that it has come`,
        );
      }
      await writeAll(this.#handle, chunk);
      this.#received += chunk.length;
      onProgress(this.#received, total);
    }
    if (this.#received < total) {
      throw new ServiceError(
        "unavailable",
        `${url}: ended after ${this.#received} of ${total} bytes`,
      );
    }
    await this.#handle.sync();
  }

  /**
   * Takes the head of an answer: the rest of what is here, or the whole, for which a new start is
   * made. Gives the file's length.
   */
  async #accept(answer: DownloadAnswer): Promise<number> {
    const { url, part, bytes } = this.#options;
    const total = answer.totalBytes ?? bytes;
    if (total === undefined) {
      throw new ServiceError(
        "failed_precondition",
        `${url}: the server does not say how long it is`,
      );
    }
    if (bytes !== undefined && total !== bytes) {
      await this.#startOver();
      throw new ServiceError(
        "data_loss",
        `${url}: the server has ${total} bytes of it, and the catalogue says ${bytes}`,
        { reason: "WRONG_SIZE" },
      );
    }
    const isRest =
      this.#received > 0 && answer.from === this.#received && total === this.#note?.totalBytes;
    if (isRest) return total;
    await this.#startOver();
    if (answer.from !== 0) {
      throw new ServiceError(
        "unavailable",
        `${url}: the server sent another part than was asked for`,
      );
    }
    const { validator } = answer;
    const boot = await thisBoot();
    this.#note = {
      url,
      totalBytes: total,
      ...(validator !== undefined && { validator }),
      ...(boot !== undefined && { boot }),
    };
    await replaceFile(notePath(part), `${JSON.stringify(this.#note)}\n`);
    return total;
  }

  async #startOver(): Promise<void> {
    await this.#handle.truncate(0);
    await rm(notePath(this.#options.part), { force: true });
    this.#received = 0;
    this.#note = undefined;
  }
}
