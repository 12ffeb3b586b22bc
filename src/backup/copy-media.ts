import { createHash } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { MediaStore } from "../media/media-store.ts";
import { isLinked, statFile, syncFolder } from "../media/synced-files.ts";
import { mediaPath, type Manifest, type MediaFacts } from "./backup-format.ts";
import type { ChecksumsWriter } from "./checksums.ts";
import { hashFile } from "./hash-file.ts";
import { readMedia, type RecordedMedia } from "./read-rows.ts";

/** How many media of a store are copied concurrently. */
const copiedAtOnce = 4;

/** Where the bytes of media came from, as numbers of media. */
export interface MediaSources {
  /** Hard links to an earlier backup. Their bytes are not read again. */
  reused: number;
  /** Hard links to the media store. */
  linked: number;
  copied: number;
}

/** An earlier backup, whose media is linked instead of copied. */
export interface EarlierBackup {
  readonly folder: string;
  /** The SHA-256 of media that was verified, by its path, so that it need not be read again. */
  readonly verified: ReadonlyMap<string, string>;
}

/** The media that is copied, and what is noted of it. */
export interface CopyParts {
  readonly store: MediaStore;
  /** The backup that is being made, whose tables are complete. */
  readonly folder: string;
  readonly tables: Manifest["tables"];
  readonly checksums: ChecksumsWriter;
  readonly onMedia: (bytes: number) => void;
}

export type CopiedMedia = MediaFacts & { readonly sources: MediaSources };

/** Copies all media that the tables of a backup name. */
export type CopyMedia = (parts: CopyParts) => Promise<CopiedMedia>;

/** The size and the SHA-256 of media as it is in the backup. */
export interface Placed {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Returns a function that copies media into the folder of the backup: by hard links where possible.
 * It reads the bytes of all media that is new since the earlier backup.
 */
export function intoFolder(earlier: readonly EarlierBackup[]): CopyMedia {
  return async (parts) => {
    const sources: MediaSources = { reused: 0, linked: 0, copied: 0 };
    const folders = new Set<string>();
    const place = { ...parts, earlier, folders, sources };
    const facts = await copyEach(parts, (media) => placeMedia(place, media));
    for (const each of folders) await syncFolder(each);
    return { ...facts, sources };
  };
}

/**
 * Places all media that the tables of a backup name, and compares it with its record. Does not fail
 * if media is missing or altered. `place` returns undefined for media that is nowhere.
 */
export async function copyEach(
  parts: CopyParts,
  place: (media: RecordedMedia) => Promise<Placed | undefined>,
): Promise<MediaFacts> {
  const { folder, tables } = parts;
  const [missing, altered]: [string[], string[]] = [[], []];
  let [count, bytes] = [0, 0];
  const media = readMedia(folder, tables);
  const work = async (): Promise<void> => {
    for await (const each of media) {
      const placed = await place(each);
      if (!placed) {
        missing.push(each.id);
        continue;
      }
      const isFit =
        placed.bytes === each.sizeBytes && placed.sha256 === (each.sha256 ?? placed.sha256);
      if (!isFit) altered.push(each.id);
      await parts.checksums.add({ path: mediaPath(each.id), sha256: placed.sha256 });
      count += 1;
      bytes += placed.bytes;
      parts.onMedia(each.sizeBytes);
    }
  };
  // All of them end before an error is thrown, so that nothing is written after that.
  const ends = await Promise.allSettled(Array.from({ length: copiedAtOnce }, work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return { count, bytes, missing, altered };
}

/** Places media in the backup. Returns undefined if its bytes are nowhere. */
async function placeMedia(
  parts: CopyParts & {
    readonly earlier: readonly EarlierBackup[];
    readonly folders: Set<string>;
    readonly sources: MediaSources;
  },
  media: RecordedMedia,
): Promise<Placed | undefined> {
  const { store, folder, earlier, folders, sources } = parts;
  const place = join(folder, mediaPath(media.id));
  if (!folders.has(dirname(place))) {
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    folders.add(dirname(place));
  }
  const path = mediaPath(media.id);
  for (const { folder: from, verified } of earlier) {
    const found = await statFile(join(from, path));
    if (found?.size !== media.sizeBytes || !(await isLinked(join(from, path), place))) continue;
    const sha256 = verified.get(path);
    const placed = sha256 === undefined ? await hashFile(place) : { bytes: found.size, sha256 };
    if (placed.sha256 === (media.sha256 ?? placed.sha256)) {
      sources.reused += 1;
      return placed;
    }
    await rm(place);
  }
  const file = store.file?.(media.id);
  if (file !== undefined && (await isLinked(file, place))) {
    sources.linked += 1;
    return await hashFile(place);
  }
  const copied = await copyFromStore(store, media.id, place);
  if (copied) sources.copied += 1;
  return copied;
}

/** Copies media under a temporary name, so that a file with its own name is whole. */
async function copyFromStore(
  store: MediaStore,
  id: string,
  place: string,
): Promise<Placed | undefined> {
  const part = `${place}.part`;
  await rm(part, { force: true });
  const size = await store.sizeBytes(id);
  if (size === undefined) return undefined;
  const hash = createHash("sha256");
  let bytes = 0;
  {
    await using handle = await open(part, "wx", 0o600);
    const source = size === 0 ? undefined : await chunksOf(store, id, size);
    for await (const chunk of source ?? []) {
      hash.update(chunk);
      await handle.writeFile(chunk);
      bytes += chunk.length;
    }
    await handle.sync();
  }
  await rename(part, place);
  return { bytes, sha256: hash.digest("hex") };
}

/** Opens the bytes of media. */
export async function chunksOf(
  store: MediaStore,
  id: string,
  size: number,
): Promise<AsyncIterable<Uint8Array>> {
  return (await store.openChunks?.(id, { start: 0, end: size - 1 })) ?? (await store.open(id));
}
