import { statfs } from "node:fs/promises";
import { ServiceError } from "../std/service-error.ts";

/** Returns the number of bytes that may still be written to the file system of a folder. */
export type FreeBytes = (folder: string) => Promise<number>;

/**
 * The space that stays free for everything else on the disk: the database and uploads may also be
 * there.
 */
const spareBytes = 256 << 20;

export const freeBytesOf: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** Throws ServiceError if this many more bytes do not fit. */
export async function checkRoom(
  folder: string,
  neededBytes: number,
  freeBytes: FreeBytes,
): Promise<void> {
  const free = await freeBytes(folder);
  if (free >= neededBytes + spareBytes) return;
  throw new ServiceError(
    "resource_exhausted",
    `there is not enough disk space in ${folder}: ${megabytes(neededBytes + spareBytes)} are needed, ${megabytes(free)} are free`,
    { reason: "NO_DISK_SPACE" },
  );
}

/** Formats a size for people: "74.6 MB", "1.40 GB". */
export function megabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
