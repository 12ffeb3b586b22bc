import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "./durable-files.ts";
import type { ModelFile } from "./model-card.ts";

/**
 * The error for a model file that cannot be used. The message begins with the file's path below the
 * model's folder.
 */
export class ModelFileError extends Error {
  override readonly name = "ModelFileError";

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
  }
}

/**
 * Checks that each file exists and has the size and checksum given in the card. Throws
 * ModelFileError.
 */
export async function checkModelFiles(
  folder: string,
  files: Readonly<Record<string, ModelFile>>,
): Promise<void> {
  for (const file of Object.values(files)) await checkModelFile(folder, file);
}

async function checkModelFile(folder: string, file: ModelFile): Promise<void> {
  const { path, bytes, sha256 } = file;
  const stats = await stat(join(folder, path)).catch(unreadable(path));
  if (!stats.isFile()) throw new ModelFileError(path, "is not a file");
  if (stats.size === 0) throw new ModelFileError(path, "is empty");
  if (bytes !== undefined && stats.size < bytes) throw cutOff(path, stats.size, shownCount(bytes));
  if (bytes !== undefined && stats.size > bytes) {
    throw new ModelFileError(
      path,
      `has ${shownCount(stats.size)} bytes instead of ${shownCount(bytes)}`,
    );
  }
  if (sha256 === undefined) return;
  const hash = createHash("sha256");
  for await (const part of createReadStream(join(folder, path))) hash.update(part);
  const actual = hash.digest("hex");
  if (actual === sha256) return;
  throw new ModelFileError(path, `is another file: its SHA-256 is ${actual} instead of ${sha256}`);
}

/** Fields of ModelProto (onnx.proto, a protocol buffer). */
const versionField = 1;
const graphField = 7;
const metadataField = 14;
const lastField = 25;
/**
 * The maximum size of a metadata entry, which is read into memory. No real entry is this large.
 */
const metadataBytesMax = 1 << 20;

/**
 * Returns the metadata of an ONNX file, which must be complete. Walks the outermost fields of the
 * file, to detect truncation without loading it (a native library may abort the process). Throws
 * ModelFileError.
 */
export async function readOnnxMetadata(
  folder: string,
  { path }: ModelFile,
): Promise<ReadonlyMap<string, string>> {
  const handle = await open(join(folder, path)).catch(unreadable(path));
  try {
    const size = (await handle.stat()).size;
    const metadata = new Map<string, string>();
    const found = new Set<number>();
    for (let at = 0; at < size;) {
      const field = await readField(handle, at);
      if (!field || (at === 0 && field.number !== versionField)) {
        throw new ModelFileError(
          path,
          at === 0 ? "is not an ONNX model" : `is damaged at byte ${at}`,
        );
      }
      if (field.end > size) throw cutOff(path, size, `at least ${shownCount(field.end)}`);
      if (field.number === metadataField && field.end - field.start <= metadataBytesMax) {
        const entry = await readBytes(handle, field.start, field.end - field.start);
        const [key = "", value = ""] = textsOf(entry);
        metadata.set(key, value);
      }
      found.add(field.number);
      at = field.end;
    }
    if (found.has(graphField)) return metadata;
    throw new ModelFileError(path, found.size > 0 ? "is cut off: it has no graph" : "is empty");
  } finally {
    await handle.close();
  }
}

/** A field of a protocol buffer, whose content extends from `start` to `end`. */
interface Field {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** Reads a field. Returns undefined if onnx.proto does not define such a field. */
async function readField(handle: FileHandle, at: number): Promise<Field | undefined> {
  // A tag and a length take at most 10 bytes each.
  return fieldAt(await readBytes(handle, at, 20), at);
}

function fieldAt(bytes: Uint8Array, at: number): Field | undefined {
  const tag = readVarint(bytes, 0);
  if (!tag) return undefined;
  const number = Math.floor(tag.value / 8);
  if (number === 0 || number > lastField) return undefined;
  const value = readVarint(bytes, tag.length);
  const start = at + tag.length;
  switch (tag.value % 8) {
    case 0:
      return { number, start, end: start + (value?.length ?? 1) };
    case 1:
      return { number, start, end: start + 8 };
    case 2: {
      const contentStart = start + (value?.length ?? 1);
      return { number, start: contentStart, end: contentStart + (value?.value ?? 0) };
    }
    case 5:
      return { number, start, end: start + 4 };
    default:
      return undefined;
  }
}

function readVarint(
  bytes: Uint8Array,
  from: number,
): { readonly value: number; readonly length: number } | undefined {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[from + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, length: index + 1 };
  }
  return undefined;
}

/** Returns the texts of a StringStringEntryProto: its key and its value. */
function textsOf(entry: Uint8Array): readonly string[] {
  const texts: string[] = [];
  for (let at = 0; at < entry.length;) {
    const field = fieldAt(entry.subarray(at), at);
    if (!field) break;
    texts[field.number - 1] = new TextDecoder().decode(entry.subarray(field.start, field.end));
    at = field.end;
  }
  return texts;
}

async function readBytes(handle: FileHandle, at: number, length: number): Promise<Uint8Array> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

/**
 * Returns the symbols in a tokens.txt by number. A line contains a symbol and a number; an empty
 * symbol is a space. The numbers start at 0, and each occurs once. Throws ModelFileError, which
 * names the first invalid line.
 */
export async function readModelTokens(
  folder: string,
  { path }: ModelFile,
): Promise<readonly string[]> {
  const lines = await readModelLines(folder, path);
  const symbols = Array.from<string | undefined>({ length: lines.length });
  for (const [index, line] of lines.entries()) {
    const [, symbol, digits] = /^(\S*)[ \t]+(\d{1,9})$/.exec(line) ?? [];
    if (symbol === undefined || digits === undefined) {
      throw new ModelFileError(path, `line ${index + 1} is not a symbol and a number`);
    }
    const number = Number(digits);
    if (number >= lines.length) {
      const problem = `line ${index + 1} has the number ${number}, but there are only ${lines.length} lines`;
      throw new ModelFileError(path, problem);
    }
    if (symbols[number] !== undefined) {
      throw new ModelFileError(path, `line ${index + 1} repeats the number ${number}`);
    }
    symbols[number] = symbol;
  }
  return symbols.map((symbol) => symbol ?? "");
}

/** Returns the lines of a text file. Throws ModelFileError unless the file is UTF-8. */
export async function readModelLines(folder: string, path: string): Promise<readonly string[]> {
  const bytes = await readFile(join(folder, path)).catch(unreadable(path));
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const lines = text.split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    if (lines.length > 0) return lines;
  } catch {
    throw new ModelFileError(path, "is not UTF-8 text");
  }
  throw new ModelFileError(path, "is empty");
}

/**
 * Throws for a file that is missing, or that exists but cannot be read, often because another user
 * copied it.
 */
function unreadable(path: string): (error: unknown) => never {
  return (error) => {
    const code = codeOf(error);
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    throw new ModelFileError(
      path,
      isMissing ? "is missing" : `cannot be read: ${code ?? "unknown"}`,
    );
  };
}

function cutOff(path: string, bytes: number, whole: string): ModelFileError {
  return new ModelFileError(path, `is cut off after ${shownCount(bytes)} of ${whole} bytes`);
}

function shownCount(count: number): string {
  return count.toLocaleString("en-US");
}
