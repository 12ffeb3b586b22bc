import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { openRepeat } from "../std/repeat.ts";
import { ServiceError } from "../std/service-error.ts";
import { untilAborted } from "../std/until-aborted.ts";
import { openDiskNotes } from "./disk-notes.ts";
import { openDiskPartial } from "./disk-partial.ts";
import { openDiskRemoved } from "./disk-removed.ts";
import { readChunks } from "./file-chunks.ts";
import { FileWriter } from "./file-writer.ts";
import {
  mediaTooLarge,
  type MediaStore,
  type PutOptions,
  type StoredMedia,
} from "./media-store.ts";
import {
  codeOf,
  explainFull,
  ignoreMissing,
  isLinked,
  statFile,
  syncFolder,
} from "./synced-files.ts";
import { isGone, processMark } from "./process-mark.ts";
import { sniffedBytesMax, sniffMediaType } from "./sniff-media-type.ts";

/**
 * The file of an unfinished put is removed immediately if its process has certainly ended.
 * Otherwise the file is removed when nothing has been written to it for this long; the next sweep
 * still comes within the hour. A put that is still running is aborted sooner.
 */
const leftoverMsMax = 45 * 60_000;
const sweepEveryMs = 600_000;
const stopMsMax = 2_000;

/**
 * Opens the media store in a folder of this machine, and creates the folder if necessary. Before
 * put() resolves, a recording is written to a file of its own, synced, and renamed, and its folder
 * is synced. A kill or a power cut therefore leaves all of the recording or nothing.
 */
export async function openDiskStore(
  folder: string,
  parts: {
    readonly log: Log;
    readonly now?: () => number;
    /** Whether unfinished files from puts of other processes are removed. Default: yes. */
    readonly sweeps?: boolean;
  },
): Promise<MediaStore & AsyncDisposable> {
  const { log, now = Date.now, sweeps = true } = parts;
  const unfinished = join(folder, "unfinished");
  const finished = join(folder, "finished");
  const removed = join(folder, "removed");
  const partial = join(folder, "partial");
  for (const each of [unfinished, finished, removed, partial]) {
    await mkdir(each, { recursive: true, mode: 0o700 });
  }
  for (const each of [folder, dirname(folder)]) await syncFolder(each);
  const places = new MediaPlaces(finished);
  const mark = processMark();
  await using opened = new AsyncDisposableStack();
  if (sweeps) opened.use(await sweepLeftovers(unfinished, { log, now }));
  const open = opened.move();
  return {
    ...keepFiles(places, { finished, unfinished, mark }),
    partial: openDiskPartial(partial, places),
    removed: openDiskRemoved(removed, places),
    notes: openDiskNotes(folder, unfinished, mark),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Returns the methods of the store that read and write recordings. */
function keepFiles(
  places: MediaPlaces,
  folders: { readonly finished: string; readonly unfinished: string; readonly mark: string },
): Omit<MediaStore, "partial" | "removed" | "notes"> {
  const { finished, unfinished, mark } = folders;
  return {
    async put(id, bytes, options) {
      const file = places.fileOf(id);
      const part = join(unfinished, `${randomUUID()}.${mark}`);
      try {
        const stored = await write(part, bytes, options);
        await places.prepare(id);
        await rename(part, file);
        await syncFolder(dirname(file));
        return stored;
      } catch (error) {
        for (const each of [part, file]) await rm(each, { force: true });
        throw explainFull(error);
      }
    },
    async open(id, range) {
      const handle = await openFile(places.fileOf(id));
      return handle.createReadStream(range);
    },
    async openChunks(id, range) {
      return readChunks(await openFile(places.fileOf(id)), range);
    },
    file: (id) => places.fileOf(id),
    async adopt(id, path) {
      await places.prepare(id);
      return await isLinked(path, places.fileOf(id));
    },
    async sizeBytes(id) {
      return (await statFile(places.fileOf(id)))?.size;
    },
    async delete(id) {
      const file = places.fileOf(id);
      await rm(file, { force: true });
      await syncFolder(dirname(file)).catch(ignoreMissing);
    },
    async *list() {
      for (const name of await readdir(finished)) {
        for (const id of await readdir(join(finished, name))) {
          const found = isId(id) ? await statFile(places.fileOf(id)) : undefined;
          if (found) yield { id, putAt: found.mtime };
        }
      }
    },
    async ping() {
      await stat(finished);
    },
    async *unfinished() {
      for (const name of await readdir(unfinished)) {
        const file = join(unfinished, name);
        const found = await statFile(file);
        if (found) yield { name, since: found.mtime, remove: () => rm(file, { force: true }) };
      }
    },
  };
}

/** Maps each recording to the path of its file, in one of 256 folders. */
class MediaPlaces {
  readonly #finished: string;
  /** Folders that have been or are being created and synced. */
  readonly #prepared = new Map<string, Promise<void>>();

  constructor(finished: string) {
    this.#finished = finished;
  }

  fileOf(id: string): string {
    return join(this.#folderOf(id), id);
  }

  /** Resolves when the folder of a recording exists and is synced. */
  async prepare(id: string): Promise<void> {
    const folder = this.#folderOf(id);
    const made = this.#prepared.get(folder) ?? makeFolder(folder, this.#finished);
    this.#prepared.set(folder, made);
    await made.catch((error: unknown) => {
      this.#prepared.delete(folder);
      throw error;
    });
  }

  /**
   * Ids begin with a timestamp. Their last two digits spread recordings evenly over the folders.
   */
  #folderOf(id: string): string {
    if (!isId(id)) throw new Error("a media id is a UUID");
    return join(this.#finished, id.slice(-2));
  }
}

/** Sweeps once before resolving, then at intervals until disposed of. */
async function sweepLeftovers(
  unfinished: string,
  { log, now }: { readonly log: Log; readonly now: () => number },
): Promise<AsyncDisposable> {
  const sweep = async () => {
    const count = await removeLeftovers(unfinished, now());
    if (count > 0) log.info({ count }, "media.unfinished_removed");
  };
  await sweep();
  const event = "media.sweep_failed";
  const isWarning = () => false;
  const options = { everyMs: sweepEveryMs, firstAfterMs: sweepEveryMs, log, event, isWarning };
  return openRepeat({ ...options, stopMsMax }, sweep);
}

async function write(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  { bytesMax, signal, ownsChunks }: PutOptions,
): Promise<StoredMedia> {
  await using handle = await open(file, "wx", 0o600);
  await using writer = new FileWriter(handle, { ...(ownsChunks && { ownsChunks }) });
  const head = Buffer.alloc(sniffedBytesMax);
  let sizeBytes = 0;
  for await (const chunk of signal ? untilAborted(bytes, signal) : bytes) {
    if (sizeBytes < head.length) head.set(chunk.subarray(0, head.length - sizeBytes), sizeBytes);
    sizeBytes += chunk.length;
    if (sizeBytes > bytesMax) throw mediaTooLarge(bytesMax);
    await writer.add(chunk);
  }
  await writer.end();
  return { sizeBytes, sha256: null, contentType: sniffMediaType(head.subarray(0, sizeBytes)) };
}

/** Removes the files of unfinished puts. Resolves to the number of removed files. */
async function removeLeftovers(unfinished: string, now: number): Promise<number> {
  let count = 0;
  for (const name of await readdir(unfinished)) {
    const file = join(unfinished, name);
    const found = await statFile(file);
    if (!found) continue;
    if (isGone(name.slice(name.indexOf(".") + 1)) || found.mtimeMs < now - leftoverMsMax) {
      await rm(file, { force: true });
      count += 1;
    }
  }
  return count;
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    return await open(file, "r");
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    throw new ServiceError("not_found", "the media is gone", { cause: error });
  }
}

async function makeFolder(folder: string, parent: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await syncFolder(parent);
}
