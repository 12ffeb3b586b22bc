import { chmod, copyFile, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { Evaluation } from "../../evaluation/evaluation.ts";
import { htmlReport } from "../../evaluation/html-report.ts";
import { UsageError } from "../command.ts";

/** A file that marks a folder as made by an earlier report, which may be replaced. */
const markName = ".hlust-evaluation";

/**
 * Checks, before hours of work, that the report can be written to this file. Throws UsageError.
 */
export async function checkHtmlFile(file: string): Promise<void> {
  if (!/\.html?$/i.test(file)) {
    throw new UsageError(`--html must end in .html, not ${JSON.stringify(file)}`);
  }
  const folder = dirname(resolve(file));
  if (!(await find(folder))?.isDirectory()) {
    throw new UsageError(`--html: there is no folder ${folder}`);
  }
  const copies = join(folder, recordingsFolderOf(file));
  if ((await find(copies)) && !(await find(join(copies, markName)))) {
    throw new UsageError(
      `--html: ${copies} exists and is not from an earlier report; choose another name`,
    );
  }
}

async function find(path: string) {
  return await stat(path).catch(() => undefined);
}

/**
 * Writes the report as a page, and copies of the recordings into a folder next to it: report.html
 * and report-recordings/. The folder of an earlier report is replaced once all copies are made.
 */
export async function writeHtmlReport(
  file: string,
  evaluation: Evaluation,
  recordings: readonly { readonly file: string }[],
): Promise<void> {
  const folderName = recordingsFolderOf(file);
  const folder = join(dirname(file), folderName);
  const made = await mkdtemp(`${folder}-`);
  await writeFile(join(made, markName), "Made by hlust evaluate, which may replace this folder.\n");
  // The number keeps recordings of the same name in different folders apart.
  const names = recordings.map((each, at) => `${at + 1}-${basename(each.file)}`);
  for (const [at, recording] of recordings.entries()) {
    await copyFile(recording.file, join(made, names[at] ?? ""));
  }
  await rm(folder, { recursive: true, force: true });
  await chmod(made, 0o755);
  await rename(made, folder);
  const soundOf = (index: number): string | undefined => {
    const name = names[index];
    return name === undefined
      ? undefined
      : `${encodeURIComponent(folderName)}/${encodeURIComponent(name)}`;
  };
  await writeFile(file, htmlReport(evaluation, soundOf));
}

/** Returns the name of the folder next to the report that has the copies of the recordings. */
function recordingsFolderOf(file: string): string {
  return `${basename(file, extname(file))}-recordings`;
}
