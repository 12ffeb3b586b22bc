import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isId } from "../std/ids.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { untilAborted } from "../std/until-aborted.ts";
import { openDiskNotes } from "./disk-notes.ts";
import { openDiskRemoved } from "./disk-removed.ts";
import { readChunks } from "./file-chunks.ts";
import { FileWriter } from "./file-writer.ts";
import {
  mediaTooLarge,
  type MediaStore,
  type PutOptions,
  type StoredMedia,
} from "./media-store.ts";
import { codeOf, ignoreMissing, statFile, syncFolder } from "./synced-files.ts";
import { isGone, processMark } from "./process-mark.ts";
import { sniffedBytesMax, sniffMediaType } from "./sniff-media-type.ts";

/**
 * What a process left in the middle of a put goes at once when that process is certainly gone, else
 * when this long nothing was written to it; the sweep after that is still within the hour. A put
 * that goes on is given up sooner.
 */
const leftoverMsMax = 45 * 60_000;
const sweepEveryMs = 600_000;

/**
 * Opens the media store in a folder of this machine, making the folder. A recording is written
 * beside its place, synced, renamed and the folder synced before put() resolves, so that a kill or
 * a power cut leaves all of it or nothing.
 */
export async function openDiskStore(
  folder: string,
  parts: {
    readonly log: Log;
    readonly now?: () => number;
    /** false: what others left in the middle of a put stays. */
    readonly sweeps?: boolean;
  },
): Promise<MediaStore & AsyncDisposable> {
  const { log, now = Date.now, sweeps = true } = parts;
  const unfinished = join(folder, "unfinished");
  const finished = join(folder, "finished");
  const removed = join(folder, "removed");
  for (const each of [unfinished, finished, removed]) {
    await mkdir(each, { recursive: true, mode: 0o700 });
  }
  for (const each of [folder, dirname(folder)]) await syncFolder(each);
  const mark = processMark();
  const sweep = async () => {
    const count = await removeLeftovers(unfinished, now());
    if (count > 0) log.info({ count }, "media.unfinished_removed");
  };
  if (sweeps) await sweep();
  const sweeping = setInterval(() => {
    if (!sweeps) return;
    sweep().catch((error: unknown) => {
      log.error(errorFields(error), "media.sweep_failed");
    });
  }, sweepEveryMs);
  sweeping.unref();

  /** Ids begin with their time: their last two digits spread them evenly over 256 folders. */
  const folderOf = (id: string): string => {
    if (!isId(id)) throw new Error("a media id is a UUID");
    return join(finished, id.slice(-2));
  };
  /** Folders that are there for good: nobody relies on one before it is synced. */
  const prepared = new Map<string, Promise<void>>();
  const prepare = async (within: string): Promise<void> => {
    const made = prepared.get(within) ?? makeFolder(within, finished);
    prepared.set(within, made);
    await made.catch((error: unknown) => {
      prepared.delete(within);
      throw error;
    });
  };
  const fileOf = (id: string): string => join(folderOf(id), id);

  return {
    async put(id, bytes, options) {
      const file = fileOf(id);
      const part = join(unfinished, `${randomUUID()}.${mark}`);
      try {
        const stored = await write(part, bytes, options);
        await prepare(folderOf(id));
        await rename(part, file);
        await syncFolder(folderOf(id));
        return stored;
      } catch (error) {
        for (const each of [part, file]) await rm(each, { force: true });
        throw explain(error);
      }
    },
    async open(id, range) {
      const handle = await openFile(fileOf(id));
      return handle.createReadStream(range);
    },
    async openChunks(id, range) {
      return readChunks(await openFile(fileOf(id)), range);
    },
    file: fileOf,
    async sizeBytes(id) {
      return (await statFile(fileOf(id)))?.size;
    },
    async delete(id) {
      await rm(fileOf(id), { force: true });
      await syncFolder(folderOf(id)).catch(ignoreMissing);
    },
    removed: openDiskRemoved(removed, { fileOf, prepare: async (id) => prepare(folderOf(id)) }),
    notes: openDiskNotes(folder, unfinished, mark),
    async *list() {
      for (const name of await readdir(finished)) {
        for (const id of await readdir(join(finished, name))) {
          const found = isId(id) ? await statFile(fileOf(id)) : undefined;
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
    async [Symbol.asyncDispose]() {
      clearInterval(sweeping);
    },
  };
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

/** How many it removed. */
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

function explain(error: unknown): unknown {
  const code = codeOf(error);
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new ServiceError("unavailable", "there is no room for more media", {
    reason: "STORAGE_FULL",
    retryAfterMs: 60_000,
    cause: error,
  });
}
