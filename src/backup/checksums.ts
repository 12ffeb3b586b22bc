import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../media/synced-files.ts";
import { BackupError, checksumsFile } from "./backup-format.ts";
import { isChecksumsEnd } from "./backup-names.ts";
import { linesOf } from "./lines.ts";

/** The SHA-256 of a file of a backup, in hexadecimal. */
export interface Checksum {
  readonly path: string;
  readonly sha256: string;
}

/** Writes the checksums of a backup to a file that sha256sum can check. */
export class ChecksumsWriter implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #hash: Hash = createHash("sha256");
  #count = 0;
  #waiting = "";

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(file: string): Promise<ChecksumsWriter> {
    return new ChecksumsWriter(await open(file, "wx", 0o600));
  }

  async add({ path, sha256 }: Checksum): Promise<void> {
    this.#count += 1;
    this.#waiting += `${sha256}  ${path}\n`;
    if (this.#waiting.length > 65_536) await this.#write();
  }

  /** Writes the last line, and syncs the file. Without this line, the backup is not whole. */
  async end(): Promise<void> {
    await this.#write();
    await this.#handle.writeFile(lastLine(this.#count, this.#hash.digest("hex")));
    await this.#handle.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #write(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = "";
    this.#hash.update(text);
    await this.#handle.writeFile(text);
  }
}

function lastLine(count: number, sha256: string): string {
  return `# whole: ${count} files, SHA-256 of the lines above ${sha256}\n`;
}

/** Returns whether a backup has the last line of its checksums. */
export async function hasChecksums(folder: string): Promise<boolean> {
  let handle: FileHandle;
  try {
    handle = await open(join(folder, checksumsFile), "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
  await using file = handle;
  const { size } = await file.stat();
  const end = Buffer.alloc(Math.min(size, 200));
  await file.read(end, 0, end.length, size - end.length);
  return isChecksumsEnd(end.toString());
}

/** Reads the checksums of a backup. Throws BackupError at the end if the list is not whole. */
export async function* readChecksums(folder: string): AsyncGenerator<Checksum, void, undefined> {
  const file = join(folder, checksumsFile);
  const hash = createHash("sha256");
  let [count, last] = [0, ""];
  try {
    for await (const line of linesOf(createReadStream(file))) {
      if (last !== "") throw altered(file);
      if (line.startsWith("#")) {
        last = `${line}\n`;
        continue;
      }
      const { sha256, path } = /^(?<sha256>[\da-f]{64}) {2}(?<path>\S+)$/.exec(line)?.groups ?? {};
      if (sha256 === undefined || path === undefined || path.includes("..")) throw altered(file);
      hash.update(`${line}\n`);
      count += 1;
      yield { path, sha256 };
    }
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    throw new BackupError(
      `${folder} is not whole: it has no ${checksumsFile}, which is written last`,
    );
  }
  if (last !== lastLine(count, hash.digest("hex"))) throw altered(file);
}

function altered(file: string): BackupError {
  return new BackupError(`${file} was cut or altered: its last line does not fit the others`);
}
