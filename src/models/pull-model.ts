import { createReadStream } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "../std/service-error.ts";
import type { CatalogueEntry, ModelDownload } from "./catalogue.ts";
import { checkRoom, freeBytesOf, type FreeBytes } from "./disk-room.ts";
import { downloadLimits, type DownloadLimits } from "./download-answer.ts";
import { deletePart, downloadFile } from "./download-file.ts";
import { codeOf, hashFile, writeNewFile, type FileFacts } from "./durable-files.ts";
import { stageModel } from "./install-model.ts";
import { downloadsFolderOf, partOf } from "./part-path.ts";
import { readKnownChecksums, recordChecksum } from "./known-checksums.ts";
import { writeCard } from "./write-card.ts";
import { unpackArchive, unpackLimits, type UnpackLimits } from "./unpack-archive.ts";

/** The progress of a pull. */
export interface PullProgress {
  readonly name: string;
  readonly phase: "download" | "check" | "unpack" | "verify" | "install";
  /**
   * The number of bytes downloaded so far in "download", the number of bytes unpacked so far in
   * "unpack", and the total number of bytes afterwards.
   */
  readonly receivedBytes: number;
  /** The total, as far as it is known. Downloads of unknown length are added when they begin. */
  readonly totalBytes: number;
}

export interface PullOptions {
  /** HLUST_MODELS. */
  readonly modelsFolder: string;
  /** Loads the model and decodes some audio. Throws if either fails. */
  readonly verify?: (folder: string) => Promise<unknown>;
  readonly onProgress?: (progress: PullProgress) => void;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<DownloadLimits & UnpackLimits>;
  readonly freeBytes?: FreeBytes;
}

/**
 * Installs a model from a catalogue: downloads, checks, unpacks and verifies the model, and then
 * replaces the previous version atomically. If the pull is interrupted, downloads stay for the next
 * attempt. Throws ServiceError with a message for the operator.
 */
export async function pullModel(entry: CatalogueEntry, options: PullOptions): Promise<void> {
  try {
    await new Pull(entry, options).run();
  } catch (error) {
    options.signal?.throwIfAborted();
    const code = codeOf(error);
    if (code !== "ENOSPC" && code !== "EDQUOT") throw error;
    throw new ServiceError(
      "resource_exhausted",
      `there is not enough disk space in ${options.modelsFolder}`,
      {
        reason: "NO_DISK_SPACE",
        cause: error,
      },
    );
  }
}

class Pull {
  readonly #entry: CatalogueEntry;
  readonly #options: PullOptions;
  readonly #limits: DownloadLimits & UnpackLimits;
  readonly #facts = new Map<string, FileFacts>();
  /**
   * Checksums of downloads that have no published checksum, by URL. They are recorded when the
   * model is installed.
   */
  readonly #unknown = new Map<string, string>();
  /** The number of bytes in finished downloads. */
  #finishedBytes = 0;
  #progress: PullProgress;

  constructor(entry: CatalogueEntry, options: PullOptions) {
    this.#entry = entry;
    this.#options = options;
    this.#limits = { ...downloadLimits, ...unpackLimits, ...options.limits };
    const { name } = entry.card;
    this.#progress = { name, phase: "download", receivedBytes: 0, totalBytes: this.#knownBytes() };
  }

  async run(): Promise<void> {
    const { card, downloads } = this.#entry;
    const { modelsFolder } = this.#options;
    await mkdir(modelsFolder, { recursive: true });
    await using staged = await stageModel(modelsFolder, card.name);
    await mkdir(this.#downloadsFolder, { recursive: true });
    const toDownload = this.#knownBytes() - (await this.#downloadedBytes());
    await this.#needRoom(Math.max(0, toDownload) + (this.#entry.diskBytes ?? 0));
    const checksums = await readKnownChecksums(modelsFolder);
    for (const download of downloads) {
      const sha256 = download.sha256 ?? checksums[download.url];
      await this.#download(download, sha256);
      await this.#check(download, sha256);
    }
    try {
      await this.#build(staged.folder);
    } catch (error) {
      // A download without a published checksum may be broken: the next pull requests it again.
      for (const url of this.#unknown.keys()) await deletePart(this.#partOf(url));
      throw error;
    }
    this.#report({ phase: "install" });
    await staged.install();
    for (const [url, sha256] of this.#unknown) await recordChecksum(modelsFolder, { url, sha256 });
    await rm(this.#downloadsFolder, { recursive: true, force: true });
  }

  /** Builds the model from its downloads. */
  async #build(folder: string): Promise<void> {
    const { card, downloads } = this.#entry;
    const { verify } = this.#options;
    this.#finishedBytes = 0;
    this.#report({ phase: "unpack", receivedBytes: 0 });
    for (const download of downloads) await this.#unpack(download, folder);
    await writeCard(folder, card, this.#facts);
    if (!verify) return;
    this.#report({ phase: "verify" });
    await verify(folder);
  }

  async #download(download: ModelDownload, sha256: string | undefined): Promise<void> {
    const { url, bytes } = download;
    const { signal } = this.#options;
    const others = this.#knownBytes() - (bytes ?? 0);
    await downloadFile({
      url,
      part: this.#partOf(url),
      limits: this.#limits,
      isChecked: sha256 !== undefined,
      ...(bytes !== undefined && { bytes }),
      ...(signal && { signal }),
      onLength: (remainingBytes) => this.#needRoom(remainingBytes),
      onProgress: (receivedBytes, totalBytes) => {
        this.#report({
          phase: "download",
          receivedBytes: this.#finishedBytes + receivedBytes,
          totalBytes: bytes === undefined ? others + totalBytes : this.#knownBytes(),
        });
      },
    });
  }

  /**
   * Checks a download against its published checksum, or against the checksum of the first
   * download.
   */
  async #check(download: ModelDownload, sha256: string | undefined): Promise<void> {
    const { url } = download;
    this.#report({ phase: "check" });
    const part = this.#partOf(url);
    const found = await hashFile(part);
    this.#finishedBytes += found.bytes;
    if (sha256 !== undefined && found.sha256 !== sha256) {
      await deletePart(part);
      const source = download.sha256 === undefined ? "the first download" : "the catalogue";
      throw new ServiceError(
        "data_loss",
        `${url} has the checksum ${found.sha256}, but ${source} says ${sha256}: the download was deleted`,
        { reason: "WRONG_CHECKSUM" },
      );
    }
    if (sha256 === undefined) this.#unknown.set(url, found.sha256);
  }

  async #unpack(download: ModelDownload, folder: string): Promise<void> {
    const { signal } = this.#options;
    const { url, unpack, to } = download;
    const part = this.#partOf(url);
    const files = Object.values(this.#entry.card.files);
    if (unpack) {
      const limits = this.#limits;
      const onRead = (bytes: number): void => {
        this.#report({ receivedBytes: this.#finishedBytes + bytes });
      };
      const options = { archive: part, format: unpack, folder, files, limits, onRead };
      const written = await unpackArchive({ ...options, ...(signal && { signal }) });
      for (const [path, facts] of written) this.#facts.set(path, facts);
    } else if (to !== undefined) {
      this.#facts.set(to, await writeNewFile(join(folder, to), createReadStream(part)));
    }
    this.#finishedBytes += (await stat(part)).size;
    this.#report({ receivedBytes: this.#finishedBytes });
  }

  async #needRoom(bytes: number): Promise<void> {
    const { modelsFolder, freeBytes = freeBytesOf } = this.#options;
    await checkRoom(modelsFolder, bytes, freeBytes);
  }

  /** Returns the number of bytes that earlier pulls have left. */
  async #downloadedBytes(): Promise<number> {
    let bytes = 0;
    for (const { url } of this.#entry.downloads) {
      const found = await stat(this.#partOf(url)).catch(() => undefined);
      bytes += found?.size ?? 0;
    }
    return bytes;
  }

  #knownBytes(): number {
    return this.#entry.downloads.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  }

  get #downloadsFolder(): string {
    return downloadsFolderOf(this.#options.modelsFolder, this.#entry.card.name);
  }

  #partOf(url: string): string {
    return partOf(this.#options.modelsFolder, this.#entry.card.name, url);
  }

  #report(changes: Partial<PullProgress>): void {
    this.#progress = { ...this.#progress, ...changes };
    this.#options.onProgress?.(this.#progress);
  }
}
