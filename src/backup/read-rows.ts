import { createReadStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { linesOf } from "./lines.ts";
import { BackupError, tablePath, type Manifest } from "./backup-format.ts";

/** Media that the database of a backup names. */
export interface RecordedMedia {
  readonly id: string;
  readonly sizeBytes: number;
  /** In hexadecimal; undefined if the service had not read it yet. */
  readonly sha256: string | undefined;
}

/** Reads the media that the database of a backup names, in no particular order. */
export async function* readMedia(
  folder: string,
  tables: Manifest["tables"],
): AsyncGenerator<RecordedMedia, void, undefined> {
  const columns = tables.find(({ name }) => name === "media")?.columns ?? [];
  const [id, size, hash] = ["id", "size_bytes", "sha256"].map((name) => columns.indexOf(name));
  if (id === undefined || size === undefined || hash === undefined || id < 0 || size < 0) {
    throw new BackupError(`${folder} has no table of media`);
  }
  const file = createReadStream(join(folder, tablePath("media")));
  // An error of the file is thrown where the rows are read.
  const bytes: AsyncIterable<Buffer> = pipeline(file, createZstdDecompress(), () => {});
  for await (const line of linesOf(bytes)) {
    // None of the three values contains a character that COPY escapes, except the \\x of bytea.
    const values = line.split("\t");
    const [, sha256] = /^\\\\x([\da-f]{64})$/.exec(values[hash] ?? "") ?? [];
    yield { id: values[id] ?? "", sizeBytes: Number(values[size]), sha256 };
  }
}
