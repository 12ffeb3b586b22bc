import { readFile } from "node:fs/promises";
import { codeOf } from "./durable-files.ts";

/** The note next to a partial file, which describes the complete file. */
export interface PartNote {
  readonly url: string;
  readonly totalBytes: number;
  /** The strong ETag or Last-Modified value with which the rest can be requested. */
  readonly validator?: string;
  /** The boot id of the machine at the time when the part was written. */
  readonly boot?: string;
}

export function notePath(part: string): string {
  return `${part}.json`;
}

/**
 * Reads the note of a part that can be resumed. After a restart of the machine, a part without a
 * checksum cannot be resumed: it may end in zeros in place of data that was never written to the
 * disk.
 */
export async function readNote(options: {
  readonly part: string;
  readonly url: string;
  readonly bytes?: number;
  readonly isChecked: boolean;
}): Promise<PartNote | undefined> {
  const note = parseNote(await readText(notePath(options.part)));
  if (note?.url !== options.url) return undefined;
  if (options.bytes !== undefined && note.totalBytes !== options.bytes) return undefined;
  const isSafe = options.isChecked || (note.boot !== undefined && note.boot === (await thisBoot()));
  return isSafe ? note : undefined;
}

/** Returns the boot id of this machine, or undefined if it has none. */
export async function thisBoot(): Promise<string | undefined> {
  const text = await readText("/proc/sys/kernel/random/boot_id");
  return text?.trim();
}

function parseNote(text: string | undefined): PartNote | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    if (typeof value !== "object" || value === null) return undefined;
    if (!("url" in value) || typeof value.url !== "string") return undefined;
    if (!("totalBytes" in value) || typeof value.totalBytes !== "number") return undefined;
    const { url, totalBytes } = value;
    return { url, totalBytes, ...textOf(value, "validator"), ...textOf(value, "boot") };
  } catch {
    return undefined;
  }
}

function textOf<Name extends string>(value: object, name: Name): { [Key in Name]?: string } {
  const found: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
  const result: { [Key in Name]?: string } = {};
  if (typeof found === "string") result[name] = found;
  return result;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
