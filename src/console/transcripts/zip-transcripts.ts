import { Zip, ZipDeflate, ZipPassThrough } from "fflate";
import { fetchAttachment } from "../api/call-api.ts";
import { type BulkResult, type BulkRun, oneByOne } from "./bulk.ts";
import type { Selected } from "./use-selection.ts";

/** The format of the files in an archive. */
export type ZipFormat = "TEXT" | "DOCX" | "ODT" | "SRT" | "VTT" | "JSON";

/** These are archives themselves. */
const compressed: ReadonlySet<ZipFormat> = new Set(["DOCX", "ODT"]);

/**
 * Downloads transcripts as files, and packs them into a ZIP archive while they arrive. What is
 * packed is given to the browser, which may keep it on its disk. `zip` is undefined if no file was
 * downloaded.
 */
export async function zipTranscripts(
  rows: readonly Selected[],
  format: ZipFormat,
  run: BulkRun,
): Promise<BulkResult & { readonly zip: Blob | undefined }> {
  const parts: Blob[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    parts.push(new Blob([new Uint8Array(chunk)]));
  });
  const uniqueName = uniqueNames();
  const result = await oneByOne(rows, run, async ({ id }) => {
    const path = `/v1alpha1/transcripts/${id}:export?format=${format}`;
    const { blob, fileName = `${id}.${format.toLowerCase()}` } = await fetchAttachment(path);
    const content = new Uint8Array(await blob.arrayBuffer());
    const name = uniqueName(fileName);
    const file = compressed.has(format) ? new ZipPassThrough(name) : new ZipDeflate(name);
    zip.add(file);
    file.push(content, true);
  });
  zip.end();
  const isEmpty = result.done.length === 0;
  return { ...result, zip: isEmpty ? undefined : new Blob(parts, { type: "application/zip" }) };
}

/**
 * Returns a function that makes names unique, whatever their case: "a.txt", "A (2).txt".
 */
export function uniqueNames(): (name: string) => string {
  const used = new Set<string>();
  return (name) => {
    const dot = name.lastIndexOf(".");
    const [base, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
    let unique = name;
    for (let number = 2; used.has(unique.toLowerCase()); number += 1) {
      unique = `${base} (${number})${ending}`;
    }
    used.add(unique.toLowerCase());
    return unique;
  };
}
