import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import {
  arch,
  availableParallelism,
  cpus,
  freemem,
  homedir,
  platform,
  release,
  totalmem,
} from "node:os";
import { join } from "node:path";
import { megabytes } from "../../models/disk-room.ts";
import { codeOf, hashFile } from "../../models/durable-files.ts";
import type { ModelCard, ModelFile } from "../../models/model-card.ts";
import { packageVersion } from "../version.ts";

/** The libraries that load models. */
const libraries = ["sherpa-onnx-node", "onnxruntime-node"];
/** The instructions of x86 and ARM that the libraries choose their code by. */
const instructions =
  /^(sse4_1|sse4_2|avx|avx2|fma|f16c|avx512\w*|avx_vnni|amx\w*|asimd\w*|sve\w*|i8mm|bf16)$/;

/** A model whose failure is reported. */
export interface ReportedModel {
  readonly card: ModelCard;
  readonly folder: string;
}

/**
 * Returns what a report of a failing model needs: versions, the machine, the model with the
 * checksums of its files, and the error. Of paths only the last part is shown, so that a report has
 * no names of users; the recording and its text are not in it.
 */
export async function failureReport(
  model: ReportedModel | undefined,
  error: unknown,
): Promise<string> {
  const lines = [
    `hlust ${await packageVersion()}, Node ${process.versions.node}, ${platform()} ${arch()} ${release()}`,
    ...(await Promise.all(libraries.map(libraryLine))),
    `machine: ${availableParallelism()} cores, ${cpus()[0]?.model.trim() ?? "unknown"}, ${megabytes(totalmem())} of memory, ${megabytes(freemem())} free`,
    `instructions: ${await knownInstructions()}`,
    ...(model ? await modelLines(model) : []),
    ...(error === undefined ? [] : errorLines(error)),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

async function libraryLine(name: string): Promise<string> {
  try {
    const file = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const manifest: unknown = JSON.parse(await readFile(file, "utf8"));
    const version: unknown = Object.getOwnPropertyDescriptor(manifest, "version")?.value;
    return `${name} ${typeof version === "string" ? version : "of an unknown version"}`;
  } catch (error) {
    return `${name} cannot be read: ${codeOf(error) ?? "unknown"}`;
  }
}

async function knownInstructions(): Promise<string> {
  try {
    const text = await readFile("/proc/cpuinfo", "utf8");
    const [, flags = ""] = /^(?:flags|Features)\s*:(.*)$/m.exec(text) ?? [];
    const known = flags.split(/\s+/).filter((flag) => instructions.test(flag));
    return known.length > 0 ? known.join(" ") : "none that are known";
  } catch {
    return "unknown";
  }
}

async function modelLines({ card, folder }: ReportedModel): Promise<readonly string[]> {
  const { name, version, engine, kind, languageCodes, uses, options } = card;
  const files = await Promise.all(
    Object.entries(card.files).map(async ([role, file]) => await fileLine(folder, role, file)),
  );
  const digest = createHash("sha256").update(files.toSorted().join("\n")).digest("hex");
  return [
    `model: ${name} ${version}, ${engine}/${kind}, ${languageCodes.join()}, ${uses.join()}`,
    `options: ${JSON.stringify(options)}`,
    `digest: ${digest}`,
    ...files.map((line) => `  ${line}`),
  ];
}

async function fileLine(
  folder: string,
  role: string,
  { path, sha256 }: ModelFile,
): Promise<string> {
  try {
    const found = await hashFile(join(folder, path));
    const isOther = sha256 !== undefined && sha256 !== found.sha256;
    const note = isOther ? `, but model.json says ${sha256}` : "";
    return `${role}: ${path}, ${found.bytes} bytes, SHA-256 ${found.sha256}${note}`;
  } catch (error) {
    return `${role}: ${path} cannot be read: ${codeOf(error) ?? "unknown"}`;
  }
}

function errorLines(error: unknown): readonly string[] {
  const messages: string[] = [];
  for (let each = error; each instanceof Error && messages.length < 5; each = each.cause) {
    messages.push(`${each.name}: ${each.message}`);
  }
  return messages.map((message, at) => `${at === 0 ? "error" : "cause"}: ${withoutPaths(message)}`);
}

/**
 * Returns a text in which only the last part of each path and address is left, without a query:
 * the rest may have names of users, and the query a signature.
 */
export function withoutPaths(text: string, home = homedir()): string {
  const isFolder = home.length > 1;
  return (isFolder ? text.replaceAll(home, "~") : text)
    .replaceAll(/[a-z][a-z0-9+.-]*:\/\/([^\s'"`]*)/gi, (_, address: string) => lastPart(address))
    .replaceAll(/(?<![\w.…-])~?(?:\/[^\s/'"`:,;()]+)+\/?/g, lastPart);
}

function lastPart(address: string): string {
  const [path = ""] = address.split(/[?#]/, 1);
  return `…/${path.split("/").findLast((part) => part !== "") ?? ""}`;
}
