// A real service with a low limit on open files (threat 64), and a service in which an uncaught
// error is thrown (threat 104).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { until } from "../fixtures/until.ts";
import { fsckClean } from "./fsck-clean.ts";
import { startService, type ServiceProcess } from "./process.ts";

/** Code that runs in the service and, on a signal, throws an error in a timer. */
const breaking = `if (process.argv.includes("serve")) process.on("SIGUSR2", () =>
  setTimeout(() => { throw new Error("thrown in a timer"); }))`;

let folder: string;
let service: ServiceProcess;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-files-"));
  const environment = {
    HLUST_ENGINE: "scripted",
    HLUST_LOG: "error",
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(breaking)}`,
  };
  service = await startService(folder, environment, { openFilesMax: 256 });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await fsckClean(folder);
  rmSync(folder, { recursive: true, force: true });
});

const filesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/** Opens silent sockets; the service closes those that it does not accept. */
async function flood(count: number): Promise<Socket[]> {
  const { hostname: host, port } = new URL(service.address);
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ host, port: Number(port) });
      socket.on("error", () => {});
      socket.resume();
      // A socket may also be refused while it connects.
      await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve));
      return socket;
    }),
  );
}

async function isHealthy(): Promise<boolean> {
  const headers = { connection: "close" };
  return (await fetch(`${service.address}/readyz`, { headers })).ok;
}

/** Closes all sockets; returns the time until other clients are served. */
async function release(sockets: readonly Socket[]): Promise<number> {
  for (const socket of sockets) socket.destroy();
  const releasedAt = performance.now();
  await until(isHealthy);
  return performance.now() - releasedAt;
}

test("400 connections to a service that may open 256 files: half are accepted, and it keeps working", async (t) => {
  const sockets = await flood(400);
  // The accepted connections are also closed after 10 s, since they are silent.
  await until(() => Promise.resolve(sockets.filter(({ closed }) => !closed).length <= 128));
  assert.ok(filesOf(service.pid) < 256);
  const ms = await release(sockets);
  t.diagnostic(`served again ${ms.toFixed(0)} ms after their end`);
});

test("when it runs out of file descriptors, the service recovers as soon as some are free", async (t) => {
  await until(isHealthy);
  // The limit is the number of open files and a few more, and is reached long before the limit on
  // connections.
  const left = filesOf(service.pid) + 10;
  execFileSync("prlimit", [`--pid=${service.pid}`, `--nofile=${left}:${left}`]);
  const sockets = await flood(100);
  await until(() => Promise.resolve(filesOf(service.pid) >= left - 1));
  const ms = await release(sockets);
  t.diagnostic(`served again ${ms.toFixed(0)} ms after their end`);
  assert.equal(service.child.exitCode, null);
});

test("an uncaught error is logged and ends the process", async () => {
  const exited = once(service.child, "exit");
  service.child.kill("SIGUSR2");
  const [code] = await exited;
  assert.equal(code, 1);
  assert.match(service.output().errors, /"error":"thrown in a timer"[^]*"event":"process.broken"/);
});
