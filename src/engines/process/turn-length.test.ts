import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import {
  enginePids,
  openInput,
  scriptedOptions,
  speech,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { silence } from "../../../test/fixtures/flite.ts";
import { turnMs } from "../../../test/fixtures/turn-length.ts";
import { until } from "../../../test/fixtures/until.ts";
import { createLog } from "../../std/log.ts";
import { type EnginePool, openEnginePool } from "../pool/engine-pool.ts";
import type { RecognitionMode } from "../protocol/engine.ts";

const pages = "/sys/kernel/mm/transparent_hugepage/enabled";
let pool: EnginePool;
let pid: number;
before(async () => {
  const others = enginePids();
  pool = await openEnginePool({ engine: "scripted", processes: 1, log: createLog("silent") });
  pid = enginePids().find((each) => !others.includes(each)) ?? NaN;
});
after(() => pool[Symbol.asyncDispose]());

/** Opens a session, which stays open until the returned function is called. */
async function begin(mode: RecognitionMode): Promise<() => Promise<void>> {
  const { input, end } = openInput(speech(1000), silence(1000));
  const running = pool.recognize(input, { ...scriptedOptions, mode });
  await running.next();
  return async () => {
    end();
    while (!(await running.next()).done) continue;
  };
}

const usual = turnMs(process.pid);
test(
  "an engine process uses long scheduling slices while all its sessions are jobs",
  { skip: usual === undefined && "this kernel has slices of one length only" },
  async () => {
    const has = (ms: number | undefined) => until(async () => turnMs(pid) === ms);
    assert.equal(turnMs(pid), usual, "while it is idle");
    const endJob = await begin("job");
    await has(100);
    for (const mode of ["live", "short"] as const) {
      const end = await begin(mode);
      assert.equal(turnMs(pid), usual, `with a ${mode} session`);
      await end();
      await has(100);
    }
    const endOther = await begin("job");
    await endJob();
    assert.equal(turnMs(pid), 100, "with one job left");
    await endOther();
    await has(usual);
  },
);

test(
  "an engine process requests huge pages if the kernel leaves this decision to programs",
  { skip: !isLeftToPrograms() && "this kernel does not leave them to programs" },
  () => {
    const heap = /\[heap\][^[]*^VmFlags:.* hg\b/m;
    assert.ok(heap.test(readFileSync(`/proc/${pid}/smaps`, "utf8")));
  },
);

function isLeftToPrograms(): boolean {
  try {
    return readFileSync(pages, "utf8").includes("[madvise]");
  } catch {
    return false;
  }
}
