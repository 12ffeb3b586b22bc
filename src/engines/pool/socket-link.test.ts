import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openKeptLog } from "../../../test/fixtures/kept-log.ts";
import { FrameWriter } from "../protocol/engine-frames.ts";
import { SocketLink } from "./socket-link.ts";

/** Opens a link to a process, for which `answer` sends. */
async function openLink(answer: (socket: Socket) => void) {
  await using parts = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "hlust-link-"));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  const exited = once(child, "exit");
  parts.defer(() => void child.kill("SIGKILL"));
  const server = createServer((socket) => socket.once("data", () => answer(socket)));
  parts.defer(() => void server.close());
  const socketPath = join(folder, "process-1");
  server.listen(socketPath);
  await once(server, "listening");
  const kept = openKeptLog();
  const pid = child.pid ?? assert.fail("not started");
  const link = new SocketLink({ socketPath, credential: "of this start" }, { pid, log: kept.log });
  parts.defer(() => link.end());
  const open = parts.move();
  return { link, kept, child, exited, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

test("a process that sends bytes that are not a frame is killed, and the log says so", async () => {
  await using opened = await openLink((socket) => socket.write("no frame begins with this"));
  const { link, kept, exited } = opened;
  link.onFrames = (frames) => void [...frames];
  assert.deepEqual(await link.ended, { how: "SIGKILL", isOfProcess: true });
  assert.deepEqual(await exited, [null, "SIGKILL"]);
  assert.ok(link.isGarbled && link.wasKilled);
  const [line] = kept.of("engine.garbled");
  assert.equal(line?.["error"], "the engine pipe carries bytes that are not a frame");
});

test("a fault of this process ends its link, and leaves the process to the others", async () => {
  await using opened = await openLink((socket) => new FrameWriter(socket).writeNow("done", 1));
  const { link, kept, child } = opened;
  link.onFrames = () => {
    throw new TypeError("a fault of the program");
  };
  assert.deepEqual(await link.ended, { how: "this process failed", isOfProcess: false });
  assert.ok(!link.isGarbled && !link.wasKilled);
  assert.deepEqual([child.exitCode, child.signalCode, child.killed], [null, null, false]);
  const [line] = kept.of("engine.garbled");
  assert.equal(line?.["error"], "a fault of the program");
});
