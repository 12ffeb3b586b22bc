import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { testCard } from "../../../test/fixtures/model-fixture.ts";
import type { ModelCard } from "../../models/model-card.ts";
import type { PullPlan } from "../../models/pull-plan.ts";
import { confirm } from "./confirm.ts";
import { costLine, pullSummary } from "./pull-summary.ts";

const plan: PullPlan = {
  downloadBytes: 480e6,
  downloadedBytes: 0,
  installedBytes: 660e6,
  freeBytes: 20e9,
};
const machine = { cores: 4, memoryBytes: 16e9 };

test("a pull says what it takes, and what the machine can do with the model", () => {
  const row = (card: Partial<ModelCard>, changes: Partial<PullPlan> = {}, memoryBytes = 16e9) =>
    pullSummary(testCard("it", card), { ...plan, ...changes }, { ...machine, memoryBytes });
  assert.deepEqual(row({ kind: "streaming-nemo-ctc", uses: ["live", "short", "job"] }), [
    "download: 480.0 MB",
    "disk:     about 660.0 MB when installed; 20.00 GB are free",
    "memory:   about 1.32 GB for each process; this machine has 16.00 GB and 4 cores: 3 processes",
    "runs:     live streams, short recordings, jobs",
  ]);
  const lines: readonly [line: string | undefined, expected: RegExp][] = [
    [row({}, { downloadedBytes: 80e6 })[0], /^download: 480\.0 MB, of which 80\.0 MB are here$/],
    [row({}, { downloadBytes: undefined })[0], /^download: of unknown size$/],
    [row({}, { installedBytes: undefined })[1], /^disk: {5}unknown when installed;/],
    [row({}, { installedBytes: undefined })[2], /about 960\.0 MB for each process/],
    [row({}, { installedBytes: undefined, downloadBytes: undefined })[2], /^memory: {3}unknown;/],
    [row({}, {}, 4e9)[2], /: 1 process$/],
    [row({}, {}, 1e9)[2], /it is TOO LARGE for this machine$/],
    [row({})[3], /^runs: {5}short recordings, jobs; not live streams, unless/],
    [row({ kind: "whisper", uses: ["live"] })[3], /interim results come late/],
    [row({ kind: "diarization", uses: [] })[3], /^runs: {5}speakers of jobs$/],
  ];
  for (const [line, expected] of lines) assert.match(line ?? "", expected);
});

test("the measured cost says how many live streams the machine can have", () => {
  assert.match(
    costLine(0.21, 4),
    /took 0\.21 s of CPU time .*: at most 19 live streams .* 4 cores$/,
  );
  assert.match(costLine(5, 4), /too slow for live streams$/);
  assert.match(costLine(0, 4), /took 0\.00 s of CPU time for each second of speech$/);
});

test("a question is answered yes by an empty line, y or yes, and no by anything else", async () => {
  const rows: readonly [answer: string, isYes: boolean][] = [
    ["\n", true],
    ["y\n", true],
    [" YES \n", true],
    ["n\n", false],
    ["yep\n", false],
    ["", false],
  ];
  for (const [answer, isYes] of rows) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.end(answer);
    assert.equal(await confirm("Continue?", { input, output }), isYes, JSON.stringify(answer));
    assert.match(String(output.read()), /^Continue\? \[Y\/n\] /);
  }
});
