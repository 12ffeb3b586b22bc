import { open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { untilAborted } from "../std/until-aborted.ts";
import { FileWriter } from "./file-writer.ts";
import {
  mediaTooLarge,
  offsetMismatch,
  type PartialMedia,
  type StoredMedia,
} from "./media-store.ts";
import { sniffedBytesMax, sniffMediaType } from "./sniff-media-type.ts";
import { explainFull, ignoreMissing, statFile, syncFolder } from "./synced-files.ts";

/**
 * Stores partial media in a folder on the same file system, as one file each, which grows. The
 * length of the file is the number of its bytes. Finished media is renamed.
 */
export function openDiskPartial(
  folder: string,
  places: {
    fileOf(id: string): string;
    /** Creates the folder that contains a recording. */
    prepare(id: string): Promise<void>;
  },
): PartialMedia {
  const partOf = (id: string): string => {
    if (!isId(id)) throw new Error("a media id is a UUID");
    return join(folder, id);
  };
  return {
    async committedBytes(id) {
      await using handle = await openFile(partOf(id));
      if (!handle) return 0;
      const { size } = await handle.stat();
      await handle.datasync();
      return size;
    },
    async append(id, offset, bytes, { bytesMax, signal, ownsChunks }) {
      const part = partOf(id);
      try {
        const { size = 0 } = (await statFile(part)) ?? {};
        if (size !== offset) throw offsetMismatch(offset, size);
        await using handle = await open(part, "a", 0o600);
        if (offset === 0) await syncFolder(folder);
        const source = signal ? untilAborted(bytes, signal) : bytes;
        return await writeAt(handle, offset, source, { bytesMax, ownsChunks });
      } catch (error) {
        throw explainFull(error);
      }
    },
    async finish(id) {
      const [part, file] = [partOf(id), places.fileOf(id)];
      if (await statFile(part)) {
        await using handle = await open(part, "r");
        await handle.sync();
        await places.prepare(id);
        await rename(part, file);
        for (const each of [file, part]) await syncFolder(dirname(each));
      }
      return await factsOf(file);
    },
    async abort(id) {
      await rm(partOf(id), { force: true });
    },
    async *list() {
      for (const id of await readdir(folder)) {
        const found = isId(id) ? await statFile(partOf(id)) : undefined;
        if (found) yield { id, since: found.mtime };
      }
    },
  };
}

/**
 * Appends bytes to a file. Whatever ends the source, the bytes that came from it are
 * durable when the promise settles.
 */
async function writeAt(
  handle: FileHandle,
  offset: number,
  bytes: AsyncIterable<Uint8Array>,
  options: { readonly bytesMax: number; readonly ownsChunks: boolean | undefined },
): Promise<number> {
  const { bytesMax, ownsChunks = false } = options;
  await using writer = new FileWriter(handle, { ownsChunks });
  let size = offset;
  try {
    for await (const chunk of bytes) {
      if (size + chunk.length > bytesMax) throw mediaTooLarge(bytesMax);
      size += chunk.length;
      await writer.add(chunk);
    }
  } finally {
    await writer.end();
  }
  return size;
}

async function factsOf(file: string): Promise<StoredMedia> {
  await using handle = await openFile(file);
  if (!handle) throw new ServiceError("not_found", "no bytes were received");
  const { size } = await handle.stat();
  const head = Buffer.alloc(sniffedBytesMax);
  const { bytesRead } = await handle.read(head, 0, head.length, 0);
  return {
    sizeBytes: size,
    sha256: null,
    contentType: sniffMediaType(head.subarray(0, bytesRead)),
  };
}

/** Opens a file for reading. Returns undefined if it does not exist. */
async function openFile(file: string): Promise<FileHandle | undefined> {
  return await open(file, "r").catch(ignoreMissing);
}
