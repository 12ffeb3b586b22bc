import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { JsonFields } from "./json-fields.ts";
import { ModelCardError, readModelCard, safePathPattern, type ModelCard } from "./model-card.ts";

/** The supported archive formats. A download that is not unpacked is a file of the model. */
const archiveFormats = ["tar.bz2", "tar.gz"] as const;
export type ArchiveFormat = (typeof archiveFormats)[number];

/** A download of a model. */
export interface ModelDownload {
  readonly url: string;
  /** The published size. If undefined, the size that the server reports is used. */
  readonly bytes?: number;
  /**
   * The published checksum. If undefined, the checksum of the first download is recorded, and later
   * downloads are checked against it.
   */
  readonly sha256?: string;
  readonly unpack?: ArchiveFormat;
  /** For a download that is not unpacked: the path of the file in the model's folder. */
  readonly to?: string;
}

/** A model that can be installed. */
export interface CatalogueEntry {
  readonly card: ModelCard;
  readonly downloads: readonly ModelDownload[];
  /** The size of the installed model. undefined if it is not known before the installation. */
  readonly diskBytes?: number;
}

/** The catalogue included with the service. */
export const builtinCatalogue = join(import.meta.dirname, "catalogue.json");

/**
 * Reads a catalogue of the form `{"models": [...]}`, in which each entry is a model.json with
 * `downloads`. Throws ModelCardError with every problem.
 */
export async function readCatalogue(file: string): Promise<readonly CatalogueEntry[]> {
  try {
    return parseCatalogue(await readFile(file, "utf8"));
  } catch (error) {
    if (!(error instanceof ModelCardError)) throw error;
    throw new ModelCardError(`${file}: ${error.message}`);
  }
}

export function parseCatalogue(text: string): readonly CatalogueEntry[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ModelCardError(error instanceof Error ? error.message : String(error));
  }
  const fields = new JsonFields(value);
  const entries = fields.list("models", readEntry);
  const names = entries.map(({ card }) => card.name);
  const twice = names.filter((name, at) => names.indexOf(name) < at);
  const problems = [
    ...fields.problems,
    ...twice.map((name) => `two models are called ${name}`),
    ...entries.flatMap(problemsOf),
  ];
  if (problems.length > 0) throw new ModelCardError(problems.join("; "));
  return entries;
}

/**
 * Returns whether a model may be downloaded from this URL: the URL must use https or point to this
 * machine.
 */
export function isDownloadUrl(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && /^(127(\.\d+){3}|\[::1\]|localhost)$/.test(url.hostname);
}

function readEntry(fields: JsonFields): CatalogueEntry {
  return {
    card: readModelCard(fields),
    downloads: fields.list("downloads", readDownload),
    ...(fields.has("diskBytes") && { diskBytes: readBytes(fields, "diskBytes") }),
  };
}

function readDownload(fields: JsonFields): ModelDownload {
  const unpack = fields.has("unpack") ? fields.oneOf("unpack", archiveFormats) : undefined;
  return {
    url: fields.text("url"),
    ...(fields.has("bytes") && { bytes: readBytes(fields, "bytes") }),
    ...(fields.has("sha256") && { sha256: fields.text("sha256", /^[0-9a-f]{64}$/) }),
    ...(unpack !== undefined && { unpack }),
    ...(fields.has("to") && { to: fields.text("to", safePathPattern) }),
  };
}

function readBytes(fields: JsonFields, name: string): number {
  return fields.number(name, { min: 1, max: Number.MAX_SAFE_INTEGER });
}

/** Returns the problems of an entry that concern more than one field. */
function problemsOf({ card, downloads }: CatalogueEntry): readonly string[] {
  const problems: string[] = [];
  const paths = new Set(Object.values(card.files).map(({ path }) => path));
  if (card.server) problems.push(`${card.name} is a hosted model, which is not pulled: add it`);
  if (downloads.length === 0) problems.push(`${card.name} has no downloads`);
  for (const { url, unpack, to } of downloads) {
    const parsed = URL.parse(url);
    if (!parsed || !isDownloadUrl(parsed)) {
      problems.push(`${card.name}: the address ${url} is not https`);
    }
    if ((unpack === undefined) === (to === undefined)) {
      problems.push(`${card.name}: ${url} needs either unpack or to`);
    }
    if (to !== undefined && !paths.has(to)) {
      problems.push(`${card.name}: ${to} is not a file of the model`);
    }
  }
  return problems;
}
