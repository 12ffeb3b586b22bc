import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import {
  parseManifest,
  type ManifestProblem,
  type ManifestRow,
} from "../../evaluation/parse-manifest.ts";

/** A row of a manifest, with the absolute path of its recording. */
export interface ReadRow extends ManifestRow {
  readonly file: string;
  /** The line, or the name of the file, for messages. */
  readonly place: string;
}

export interface ReadManifest {
  readonly rows: readonly ReadRow[];
  readonly problems: readonly ManifestProblem[];
}

/** The endings of recordings in a folder. Files with other endings are ignored. */
const soundEndings = new Set(
  "wav flac mp3 ogg oga opus m4a mp4 aac amr webm mkv mov wma aif aiff".split(" "),
);
const manifestBytesMax = 256 << 20;

/**
 * Reads a manifest file, or a folder with recordings and a text file of the same name next to each.
 * Every problem is reported with its place; none is thrown.
 */
export async function readManifest(path: string): Promise<ReadManifest> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return problem(path, "does not exist: give a folder, or a TSV or JSONL file");
  if (found.isDirectory()) return await readFolder(path);
  if (found.size > manifestBytesMax) return problem(path, "has more than 256 MiB: split it");
  const text = decoded(await readFile(path));
  if (text === undefined) return problem(path, "is not UTF-8 text: convert it");
  const { rows, problems } = parseManifest(text);
  const folder = dirname(path);
  return {
    rows: rows.map((row) => ({
      ...row,
      file: resolve(folder, row.recording),
      place: `line ${row.line}`,
    })),
    problems,
  };
}

async function readFolder(folder: string): Promise<ReadManifest> {
  const names = (await readdir(folder)).toSorted();
  const sounds = names.filter((name) => soundEndings.has(endingOf(name)));
  const texts = new Set(names.filter((name) => endingOf(name) === "txt"));
  const rows: ReadRow[] = [];
  const problems: ManifestProblem[] = [];
  const stems = new Map<string, string>();
  for (const name of sounds) {
    const stem = name.slice(0, -extname(name).length);
    const textName = `${stem}.txt`;
    const same = stems.get(stem);
    stems.set(stem, name);
    if (same !== undefined) {
      problems.push({ place: name, what: `has the text of ${same} too: remove or rename one` });
    } else if (texts.delete(textName)) {
      const text = decoded(await readFile(join(folder, textName)));
      if (text === undefined) {
        problems.push({ place: textName, what: "is not UTF-8 text: convert it" });
      } else {
        const file = resolve(folder, name);
        rows.push({ line: undefined, recording: name, text, file, place: name });
        if (text.trim() === "") {
          problems.push({
            place: textName,
            what: "the reference text is empty: write what is said, or remove the recording",
          });
        }
      }
    } else problems.push({ place: name, what: `has no text: write ${textName}, or remove it` });
  }
  for (const name of texts) {
    problems.push({ place: name, what: "has no recording of the same name: add it, or remove it" });
  }
  if (sounds.length === 0 && texts.size === 0) {
    problems.push({ place: folder, what: "has no recordings: add them, each with a .txt file" });
  }
  return { rows, problems };
}

function endingOf(name: string): string {
  return extname(name).slice(1).toLowerCase();
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function problem(place: string, what: string): ReadManifest {
  return { rows: [], problems: [{ place, what }] };
}
