import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../std/service-error.ts";
import { codeOf, replaceFile } from "./durable-files.ts";
import { tryLock } from "./file-lock.ts";

/**
 * Returns the known checksums of downloads, by URL. A download without a published checksum must
 * have the same checksum as the first time.
 */
export async function readKnownChecksums(
  modelsFolder: string,
): Promise<Readonly<Record<string, string>>> {
  const path = join(modelsFolder, ".checksums.json");
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return "{}";
    throw error;
  });
  const value = parse(text);
  if (value) return value;
  throw new ServiceError(
    "failed_precondition",
    `${path} is not a valid checksum file: repair it, or delete it to accept the checksums of the next downloads`,
  );
}

/** Records a checksum. Other commands may do so concurrently. */
export async function recordChecksum(
  modelsFolder: string,
  { url, sha256 }: { readonly url: string; readonly sha256: string },
): Promise<void> {
  await using _lock = await waitForLock(modelsFolder);
  const known = await readKnownChecksums(modelsFolder);
  const entries = Object.entries({ ...known, [url]: sha256 }).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const text = JSON.stringify(Object.fromEntries(entries), undefined, 2);
  await replaceFile(join(modelsFolder, ".checksums.json"), `${text}\n`);
}

function parse(text: string): Readonly<Record<string, string>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const entries = Object.entries(value).flatMap(([url, sha256]): [string, string][] =>
      typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256) ? [[url, sha256]] : [],
    );
    return entries.length === Object.keys(value).length ? Object.fromEntries(entries) : undefined;
  } catch {
    return undefined;
  }
}

/** Waits for the lock, which other commands hold for a few milliseconds. */
async function waitForLock(modelsFolder: string): Promise<AsyncDisposable> {
  const locks = join(modelsFolder, ".locks");
  await mkdir(locks, { recursive: true });
  for (let attempts = 0; attempts < 500; attempts++) {
    const lock = await tryLock(join(locks, ".checksums"));
    if (lock) return lock;
    await sleep(20);
  }
  throw new ServiceError("aborted", `another command keeps ${locks}/.checksums locked`);
}
