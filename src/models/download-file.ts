import { open, rm, type FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../std/service-error.ts";
import { replaceFile, writeAll } from "./durable-files.ts";
import { openDownload, type DownloadAnswer, type DownloadLimits } from "./download-answer.ts";
import { notePath, readNote, thisBoot, type PartNote } from "./part-note.ts";

export interface DownloadOptions {
  readonly url: string;
  /**
   * The path of the file to write. A partial file left there by an interrupted attempt is resumed.
   */
  readonly part: string;
  /** The published size. */
  readonly bytes?: number;
  /**
   * Whether the content is later checked against a checksum. If so, a part from before a restart of
   * the machine may be resumed.
   */
  readonly isChecked: boolean;
  readonly limits: DownloadLimits;
  /** Called before anything is written, with the number of bytes that remain to be received. */
  readonly onLength: (remainingBytes: number) => Promise<void>;
  readonly onProgress: (receivedBytes: number, totalBytes: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Downloads a file over as many connections as it takes, and syncs it. At the end, the file has its
 * exact length; the caller checks its content. Throws ServiceError. The part stays for the next
 * attempt unless it cannot be resumed.
 */
export async function downloadFile(options: DownloadOptions): Promise<void> {
  const { limits, signal } = options;
  await using handle = await open(options.part, "a+", 0o644);
  const part = await Part.open(handle, options);
  let attempts = 0;
  for (;;) {
    const before = part.received;
    try {
      await part.fetchRest();
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ServiceError) || error.code !== "unavailable") throw error;
      attempts = part.received - before >= limits.progressBytesMin ? 1 : attempts + 1;
      if (attempts >= limits.attemptsMax) throw error;
      await sleep(limits.backoffMs * 2 ** (attempts - 1), undefined, signal ? { signal } : {});
    }
  }
}

/** Deletes a part and its note. */
export async function deletePart(part: string): Promise<void> {
  for (const path of [part, notePath(part)]) await rm(path, { force: true });
}

/** The downloaded part of a file. */
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
          `${url}: the server sent more than the ${total} bytes of the file`,
        );
      }
      await writeAll(this.#handle, chunk);
      this.#received += chunk.length;
      onProgress(this.#received, total);
    }
    if (this.#received < total) {
      throw new ServiceError(
        "unavailable",
        `${url}: the download ended after ${this.#received} of ${total} bytes`,
      );
    }
    await this.#handle.sync();
  }

  /**
   * Accepts the headers of a response, which contains the rest of the file or all of it. In the
   * latter case, the download starts over. Returns the file's length.
   */
  async #accept(answer: DownloadAnswer): Promise<number> {
    const { url, part, bytes } = this.#options;
    const total = answer.totalBytes ?? bytes;
    if (total === undefined) {
      throw new ServiceError(
        "failed_precondition",
        `${url}: the server does not report its length`,
      );
    }
    if (bytes !== undefined && total !== bytes) {
      await this.#startOver();
      throw new ServiceError(
        "data_loss",
        `${url}: the file has ${total} bytes; the catalogue says ${bytes}`,
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
        `${url}: the server sent a different range than was requested`,
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
