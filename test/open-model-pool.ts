import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { type EnginePool, openEnginePool } from "../src/engines/engine-pool.ts";
import { builtinModelsFolder } from "../src/engines/models/models-folder.ts";
import type { Recognition } from "../src/engines/recognizer.ts";
import type { Log } from "../src/std/log.ts";
import { until } from "./engine-pool-fixture.ts";
import { espeak, joined, silence } from "./flite.ts";

const starter = join(builtinModelsFolder, "is-IS-starter");
export const sentences = ["góðan daginn", "veðrið er gott í dag", "takk fyrir komuna"];
/** Two models are there without any that is installed. */
export const builtin = ["is-IS-starter", "pocketsphinx-en-US"];

/** A pool of engines, a process for each model, on a folder of models that the test changes. */
export interface ModelPool extends AsyncDisposable {
  readonly pool: EnginePool;
  readonly folder: string;
  /** The sentences, a second of silence around each. */
  readonly talk: Int16Array;
  readonly log: Log;
  /** What was logged; a test may empty it. */
  readonly logged: Record<string, unknown>[];
  names(): string[];
  /** Why a model was refused; undefined while it was not. */
  reasonOf(model: string): unknown;
  /** Puts a copy of the starter model there under another name, for Faroese; in place of what is there. */
  putModel(copy: Copy): void;
  removeModels(): Promise<void>;
}

export interface Copy {
  readonly name: string;
  readonly version?: string;
  /** Changes the files before anybody sees them. */
  readonly change?: (folder: string) => void;
  readonly withChecksums?: boolean;
  /** In place of the folder of the pool. */
  readonly into?: string;
}

export async function openModelPool(): Promise<ModelPool> {
  const folder = mkdtempSync(join(tmpdir(), "hlust-models-"));
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { base: null, messageKey: "event" },
    { write: (line: string) => void logged.push(JSON.parse(line)) },
  );
  const pool = await openEnginePool({ engine: "auto", processes: 1, modelsFolder: folder, log });
  const pause = silence(1000);
  const names = () => pool.state().models.map(({ name }) => name);
  return {
    pool,
    folder,
    talk: joined(pause, ...sentences.flatMap((sentence) => [espeak(sentence), pause])),
    log,
    logged,
    names,
    reasonOf: (model) =>
      logged.find((line) => line["event"] === "model.refused" && line["model"] === model)?.[
        "reason"
      ],
    putModel: (copy) => putModel({ into: folder, ...copy }),
    async removeModels() {
      for (const name of names()) rmSync(join(folder, name), { recursive: true, force: true });
      await until(() => names().length === builtin.length, "the installed ones are gone");
    },
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

export const textsOf = (finals: readonly Recognition[]) =>
  finals.map(({ alternatives }) => alternatives[0]?.text);

/** As ModelPool has it, into any folder. */
export function putModel({
  name,
  version = "1",
  change,
  withChecksums = true,
  into,
}: Copy & { readonly into: string }): void {
  const staged = join(into, `.staged-${name}`);
  cpSync(starter, staged, { recursive: true });
  const card = JSON.parse(readFileSync(join(staged, "model.json"), "utf8"));
  Object.assign(card, { name, version, languageCodes: ["fo-FO"], preference: 1 });
  for (const file of Object.values<Record<string, unknown>>(card.files)) {
    if (withChecksums) continue;
    delete file["sha256"];
    delete file["bytes"];
  }
  writeFileSync(join(staged, "model.json"), JSON.stringify(card));
  change?.(staged);
  rmSync(join(into, name), { recursive: true, force: true });
  renameSync(staged, join(into, name));
}
