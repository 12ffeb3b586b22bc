// Generated commands for a whole archive: every response, and the state afterwards, is compared
// with the model's.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import type { ArchiveModel } from "./archive-model.ts";
import { fsckClean } from "../fault/fsck-clean.ts";
import { openArchiveService, type ArchiveService } from "./archive-service.ts";
import { steps, type Step } from "./archive-steps.ts";
import type { Archive } from "./check-archive.ts";
import { checkAll, runStep } from "./run-step.ts";

/** The number of runs, with 30 commands each; `npm run test:long` does 20,000. */
const runs = Number(process.env["ARCHIVE_RUNS"] ?? 100);
const runSeed = Number(process.env["ARCHIVE_SEED"] ?? Date.now() % 1_000_000);
/** The `<seed>/<path>` in the message of a failure, which repeats only that case. */
const replay = process.env["ARCHIVE_REPLAY"]?.split("/");
const commandsPerRun = 30;
/** A crash and a restart take as long as a hundred commands. */
const crashEvery = 600;
/** The number of concurrent runs, each with its own accounts; a crash interrupts all of them. */
const lanes = replay ? 1 : 4;

let folder: string;
let service: ArchiveService;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-archive-"));
  service = await openArchiveService(folder);
});
after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

let ran = 0;

function commandOf(step: Step): fc.AsyncCommand<ArchiveModel, Archive> {
  return {
    check: () => true,
    run: async (model, archive) => {
      ran += 1;
      await runStep(model, archive, step);
    },
    toString: () => JSON.stringify(step),
  };
}

/** There are always 30 commands, and a failure is shrunk by omitting them one by one. */
const commands = fc
  .array(fc.option(steps(crashEvery), { freq: 1_000_000 }), {
    minLength: commandsPerRun,
    maxLength: commandsPerRun,
    size: "max",
  })
  .map((slots) => slots.filter((step) => step !== null).map(commandOf));

async function runOnce(all: Iterable<fc.AsyncCommand<ArchiveModel, Archive>>): Promise<void> {
  const model: ArchiveModel = { transcripts: [], uploadCount: 0 };
  const archive = { service, key: await service.newKey() };
  await fc.asyncModelRun(() => ({ model, real: archive }), all);
  await checkAll(model, archive);
}

/**
 * The maximum time for shrinking a failure, since a failure that needs a crash is slow to repeat
 * and may not recur.
 */
const shrinkMsMax = 60_000;

async function runLane(lane: number, numRuns: number): Promise<void> {
  let shrinkUntil = Infinity;
  const property = fc.asyncProperty(commands, async (all) => {
    if (performance.now() > shrinkUntil) return;
    try {
      await runOnce(all);
    } catch (error) {
      shrinkUntil = Math.min(shrinkUntil, performance.now() + shrinkMsMax);
      throw error;
    }
  });
  const [seed = runSeed + lane, path = ""] = replay ?? [];
  const parameters = { numRuns, seed: Number(seed), path };
  const details = await fc.check(property, parameters);
  if (!details.failed) return;
  const { seed: failedSeed, counterexamplePath } = details;
  const again = `ARCHIVE_REPLAY=${failedSeed}/${counterexamplePath} node --test test/archive/archive.test.ts`;
  const message = `${fc.defaultReportMessage(details)}\nTo repeat it: ${again}`;
  throw new Error(message, { cause: details.errorInstance });
}

test(
  `an archive behaves like its model, even across kill -9 (ARCHIVE_SEED=${runSeed})`,
  { timeout: 36_000_000 },
  async (t) => {
    const began = performance.now();
    await Promise.all(
      Array.from({ length: lanes }, (_, lane) => runLane(lane, Math.ceil(runs / lanes))),
    );
    const seconds = Math.round((performance.now() - began) / 1000);
    await fsckClean(folder);
    t.diagnostic(`${runs} runs, ${ran} commands, ${service.crashes} crashes, ${seconds} s`);
  },
);
