// Runs `hlust plan` as a program, with the Icelandic starter model on this machine.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { planMachines } from "../src/cli/plan/plan-command.ts";
import { testCard, writeModel } from "./fixtures/model-fixture.ts";
import { runHlust, type EndedCommand } from "./fixtures/run-hlust.ts";

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-plan-test-"));
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function plan(...args: string[]): Promise<EndedCommand> {
  return await runHlust(["plan", ...args], environment());
}

function environment(): Record<string, string> {
  return { HLUST_DATA: join(folder, "data"), HLUST_MODELS: join(folder, "models") };
}

const starter = ["--model", "is-IS-starter", "--cores", "4", "--memory", "16"] as const;

test("`hlust plan --json` measures the model, and plans for the work of the options", async () => {
  const work = ["--streams", "2000", "--hours-per-day", "240", "--busy-hours", "12"];
  const options = ["--speech-share", "0.5", "--headroom", "40", "--json"];
  const { code, out, errors } = await plan(...work, ...starter, ...options);
  assert.equal(code, 0, errors);
  const { work: read, machine, model, plan: planned } = JSON.parse(out);
  const given = { streams: 2000, hoursPerDay: 240, busyHours: 12, speechShare: 0.5 };
  assert.deepEqual(read, given);
  assert.deepEqual(machine, { cores: 4, memoryBytes: 16 * 2 ** 30, headroom: 0.4 });
  assert.equal(model.name, "is-IS-starter");
  // Silence is not recognized, and a live stream has interim results.
  assert.ok(model.live.silence > 0 && model.live.silence < model.live.speech / 2, out);
  assert.ok(model.job > 0 && model.job < 1, out);
  assert.ok(model.processBytes > model.modelBytes && model.modelBytes > 1e6, out);
  const [frontEnds, workers, engines] = planned.parts;
  assert.deepEqual([frontEnds.processes, workers.processes], [5, 1]);
  // By the figures that it printed, 20 recordings and the speech of 2000 streams.
  const least = (2000 * 0.5 * model.live.speech + 20 * model.job) / 0.6;
  assert.ok(engines.cores >= least && engines.processes >= engines.cores, out);
  assert.equal(planned.machines, planned.engineNodes + Math.ceil(othersOf(planned) / 4));
});

/** Returns the cores of everything but engines. */
function othersOf({ parts }: { parts: { name: string; cores: number }[] }): number {
  return parts.reduce((sum, { name, cores }) => (name === "engines" ? sum : sum + cores), 0);
}

test("`hlust plan` prints what was measured, the parts, the machines and what limits first", async () => {
  const { code, out, errors } = await plan("--streams", "1", "--hours-per-day", "1", ...starter);
  assert.equal(code, 0, errors);
  assert.match(out, /^is-IS-starter on this machine: [\d.]+ ms of CPU a second of live speech, /);
  assert.match(out, /^PART {8}PROCESSES {2}CORES {2}MEMORY$/m);
  assert.match(out, /^front ends {2}1 {10}0\.00 {3}0\.1 GiB$/m);
  assert.match(out, /^workers {5}1 {10}0\.00 {3}0\.4 GiB$/m);
  assert.match(out, /^engines {5}1 {10}\d\.\d\d {3}0\.\d GiB$/m);
  assert.match(out, /^all {20}\d\.\d\d {3}\d\.\d GiB$/m);
  assert.match(out, /^machines: 1 of 4 cores and 16\.0 GiB, with role all$/m);
  assert.match(out, /^live streams: at most \d+ an engine process, 555 a front end$/m);
  assert.match(out, /^limits first: .+ \(\d+ % of the plan in use, 30 % headroom included\)$/m);
});

test("`hlust plan` refuses options and models that it cannot plan with", async () => {
  const diarizer = testCard("speakers", {
    engine: "sherpa-onnx",
    kind: "diarization",
    languageCodes: [],
    uses: [],
  });
  writeModel(join(folder, "models", "speakers"), diarizer);
  const one = ["--streams", "1"];
  const rows: readonly [args: readonly string[], error: RegExp][] = [
    [one, /^UsageError: --model is required: /],
    [["--model", "is-IS-starter"], /^UsageError: --streams or --hours-per-day is required/],
    [["--streams", "1.5"], /^UsageError: --streams must be a whole number from 0 to 1000000, not/],
    [["--hours-per-day", "-1"], /^UsageError: .*--hours-per-day/],
    [[...one, "--headroom", "95"], /^UsageError: --headroom must be a number from 0 to 90, not/],
    [
      [...one, "--busy-hours", "0"],
      /^UsageError: --busy-hours must be a number from 0\.1 to 24, not/,
    ],
    [
      [...one, "--speech-share", "2"],
      /^UsageError: --speech-share must be a number from 0 to 1, not/,
    ],
    [[...one, "--cores", "0"], /^UsageError: --cores must be a whole number from 1 to 1024, not/],
    [[...one, "--memory", "0.1"], /^UsageError: --memory must be a number from 0\.5 to 65536, not/],
    [[...one, "more", ...starter], /^UsageError: unexpected argument "more"/],
    [
      [...one, "--model", "is-IS-start"],
      /--model: no model "is-IS-start" is installed: did you mean is-IS-starter\?/,
    ],
    [[...one, "--model", "speakers"], /--model: speakers recognizes no words/],
  ];
  for (const [args, error] of rows) {
    await assert.rejects(planMachines(args, environment()), error, args.join(" "));
  }
  const { code, out, errors } = await plan(...one);
  assert.equal(code, 2);
  assert.match(errors, /^hlust: --model is required: [^]+\nUsage: hlust plan --streams N /);
  assert.equal(out, "");
});
