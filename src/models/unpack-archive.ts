import { join } from "node:path";
import type { ReadEntry } from "tar";
import { ServiceError, shown } from "../std/service-error.ts";
import { archivePath } from "./archive-path.ts";
import type { ArchiveFormat } from "./catalogue.ts";
import { codeOf, writeNewFile, type FileFacts } from "./durable-files.ts";
import { decompressed } from "./decompress.ts";
import type { ModelFile } from "./model-card.ts";
import { readTar } from "./read-tar.ts";

export interface UnpackLimits {
  readonly entriesMax: number;
  /**
   * The maximum total size of everything in the archive, including entries that are not files of
   * the model.
   */
  readonly bytesMax: number;
}

export const unpackLimits: UnpackLimits = { entriesMax: 100_000, bytesMax: 20 * 1024 ** 3 };

export interface UnpackOptions {
  readonly archive: string;
  readonly format: ArchiveFormat;
  /** The folder to which the files are written. None of the files may exist there yet. */
  readonly folder: string;
  /** The files of the model. Nothing else is written. */
  readonly files: readonly ModelFile[];
  readonly limits?: UnpackLimits;
  /** Called with the number of bytes read so far. */
  readonly onRead?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Unpacks the files of a model from an archive, without the top-level folder, and syncs them. All
 * other entries are checked as well: an entry that does not belong there (a link, a device, a path
 * that leads outside the folder) causes the archive to be rejected. Throws ServiceError with the
 * entry's name. Returns the written files by path.
 */
export async function unpackArchive(
  options: UnpackOptions,
): Promise<ReadonlyMap<string, FileFacts>> {
  const { archive, format, limits = unpackLimits, onRead, signal } = options;
  const unpacking = new Unpacking(options, limits);
  const bytes = decompressed(archive, format, { bytesMax: limits.bytesMax, onRead, signal });
  await readTar(bytes, (entry) => unpacking.take(entry));
  return unpacking.written;
}

/** The state of unpacking one archive. */
class Unpacking {
  readonly written = new Map<string, FileFacts>();
  readonly #folder: string;
  readonly #wanted: ReadonlyMap<string, ModelFile>;
  readonly #limits: UnpackLimits;
  readonly #seen = new Set<string>();
  /**
   * The first name of every path. undefined before the first entry; "" if the archive's files are
   * at its root.
   */
  #top: string | undefined;
  #entries = 0;
  #bytes = 0;

  constructor({ folder, files }: UnpackOptions, limits: UnpackLimits) {
    this.#folder = folder;
    this.#wanted = new Map(files.map((file) => [file.path, file]));
    this.#limits = limits;
  }

  /** Writes the entry if it is a file of the model, or skips it if it is harmless. */
  async take(entry: ReadEntry): Promise<void> {
    this.#count(entry);
    const path = this.#pathOf(entry);
    const file = path === undefined ? undefined : this.#wanted.get(path);
    if (path === undefined || !file) {
      entry.resume();
      return;
    }
    if (file.bytes !== undefined && entry.size !== file.bytes) {
      throw refused(entry, `has ${entry.size} bytes; ${file.bytes} are expected`);
    }
    const facts = await this.#write(path, entry);
    if (facts.bytes !== entry.size) throw refused(entry, `is truncated after ${facts.bytes} bytes`);
    if (file.sha256 !== undefined && facts.sha256 !== file.sha256) {
      throw refused(entry, `has the checksum ${facts.sha256}; ${file.sha256} is expected`);
    }
    this.written.set(path, facts);
  }

  async #write(path: string, entry: ReadEntry): Promise<FileFacts> {
    try {
      return await writeNewFile(join(this.#folder, path), entry);
    } catch (error) {
      if (codeOf(error) === "EEXIST") throw refused(entry, "is in another download too");
      throw error;
    }
  }

  #count(entry: ReadEntry): void {
    const { entriesMax, bytesMax } = this.#limits;
    this.#entries += 1;
    if (this.#entries > entriesMax)
      throw refused(entry, `is one of more than ${entriesMax} entries`);
    this.#bytes += entry.size;
    if (this.#bytes > bytesMax) throw refused(entry, `makes it more than ${bytesMax} bytes`);
  }

  /**
   * Returns the path below the top-level folder, or undefined for a folder. Throws for a harmful
   * entry.
   */
  #pathOf(entry: ReadEntry): string | undefined {
    const names = archivePath(entry.path);
    if (typeof names === "string") throw refused(entry, names);
    const isFolder = entry.type === "Directory" || entry.type === "GNUDumpDir";
    if (!isFolder && !["File", "OldFile", "ContiguousFile"].includes(entry.type)) {
      throw refused(entry, `is neither a file nor a folder (type ${entry.type})`);
    }
    const [first] = names;
    if (first === undefined) {
      if (isFolder) return undefined;
      throw refused(entry, "has no name");
    }
    // macOS metadata, which tar writes as a separate file.
    if (!isFolder && names.at(-1)?.startsWith("._") === true) return undefined;
    this.#top ??= isFolder || names.length > 1 ? first : "";
    if (this.#top !== "" && first !== this.#top) {
      throw refused(entry, `is not in the folder ${this.#top} with which the archive begins`);
    }
    if (isFolder) return undefined;
    const path = names.slice(this.#top === "" ? 0 : 1).join("/");
    if (path === "") throw refused(entry, "is a file in place of the archive's folder");
    if (this.#seen.has(path)) throw refused(entry, "occurs twice");
    this.#seen.add(path);
    return path;
  }
}

function refused(entry: ReadEntry, why: string): ServiceError {
  return new ServiceError("data_loss", `the archive is rejected: ${shown(entry.path)} ${why}`);
}
