import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { until } from "../../../test/fixtures/until.ts";
import { processTree } from "./process-tree.ts";
import { ServerWatch } from "./server-watch.ts";

const beforeMs = 800;
const whileMs = 200;

test("ServerWatch reports the CPU time since its start, including that of an ended child", async () => {
  // Three generations: the last one is busy, and the others wait. When it has ended, its CPU time
  // is part of theirs.
  const work = "while :; do :; done";
  const child = `(${work}) & echo $!; wait`;
  const root = spawn("sh", ["-c", `sh -c '${child}'; exec cat`], { detached: true });
  const { pid: rootPid = 0 } = root;
  try {
    const [printed] = await once(root.stdout, "data");
    const worker = Number(String(printed));
    const cpuMs = async () => {
      const tree = await processTree(rootPid);
      return tree.find(({ pid }) => pid === worker)?.cpuMs ?? 0;
    };
    await until(async () => (await cpuMs()) >= beforeMs);
    process.kill(worker, "SIGSTOP");
    const startMs = await cpuMs();
    using watch = await ServerWatch.start([rootPid]);
    process.kill(worker, "SIGCONT");
    await until(async () => (await cpuMs()) >= startMs + whileMs);
    process.kill(worker, "SIGKILL");
    await until(async () => (await processTree(rootPid)).length === 1);
    const use = await watch.stop();
    assert.ok(use.cpuMs >= whileMs && use.cpuMs < beforeMs, `${use.cpuMs} ms`);
  } finally {
    process.kill(-rootPid, "SIGKILL");
  }
});
