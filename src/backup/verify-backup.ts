import { mediaInFolder, type BackupMedia } from "./backup-media.ts";
import { checksumsFile, manifestFile, readManifest, tablePath } from "./backup-format.ts";
import { readChecksums } from "./checksums.ts";
import type { OnProgress } from "./progress.ts";

/** A file of a backup that is not as it was written. */
export interface Problem {
  /** The path of the file in the backup. */
  readonly path: string;
  /** What is wrong with it, after its name: "is missing". */
  readonly what: string;
}

/**
 * Checks that a backup is whole and unaltered, and yields each file that is not. Throws BackupError
 * if there is no backup, or its list of files is cut or altered. `readsMedia`: whether the bytes of
 * media are read, or only counted. `media`: where the media is, if not in the folder.
 */
export async function* problemsOf(
  folder: string,
  options: {
    readonly readsMedia: boolean;
    readonly onProgress: OnProgress;
    readonly media?: BackupMedia | undefined;
  },
): AsyncGenerator<Problem, void, undefined> {
  const manifest = await readManifest(folder);
  const sizes = new Map(manifest.tables.map(({ name, bytes }) => [tablePath(name), bytes]));
  const total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, manifest.media?.bytes ?? 0);
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    options.onProgress({ phase: "verification", done, total, unit: "bytes" });
  };
  const files = mediaInFolder(folder);
  const listed = new Set<string>();
  let media = 0;
  for await (const { path, sha256 } of readChecksums(folder)) {
    const isMedia = path.startsWith("media/");
    if (isMedia) media += 1;
    else listed.add(path);
    const readsIt = !isMedia || options.readsMedia;
    const from = isMedia ? (options.media ?? files) : files;
    const what = await problemOf(from, path, {
      sha256,
      bytes: sizes.get(path),
      readsIt,
      onBytes,
    });
    if (what !== undefined) yield { path, what };
  }
  for (const path of [manifestFile, ...sizes.keys()]) {
    if (!listed.has(path)) yield { path, what: `is not in ${checksumsFile}` };
  }
  const count = manifest.media?.count ?? 0;
  if (media !== count) {
    const what = `lists ${media} media, and ${manifestFile} has ${count}`;
    yield { path: checksumsFile, what };
  }
}

async function problemOf(
  from: BackupMedia,
  path: string,
  expected: {
    readonly sha256: string;
    readonly bytes: number | undefined;
    readonly readsIt: boolean;
    readonly onBytes: (bytes: number) => void;
  },
): Promise<string | undefined> {
  const { sha256, bytes, readsIt, onBytes } = expected;
  const size = await from.sizeBytes(path);
  if (size === undefined) return "is missing";
  if (bytes !== undefined && size < bytes) return `was cut: it has ${size} of ${bytes} bytes`;
  if (!readsIt) return undefined;
  const hashed = await from.hash(path, onBytes);
  if (hashed.sha256 === sha256) return undefined;
  return `was cut or altered: the SHA-256 of its ${hashed.bytes} bytes is ${hashed.sha256}`;
}
