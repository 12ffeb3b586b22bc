import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { openKeptSocket, openOtherSocket } from "../../test/fixtures/kept-socket.ts";
import { takePassedSockets } from "./passed-sockets.ts";

test("takePassedSockets() returns nothing without the variables, and for those of another process", async () => {
  assert.deepEqual(await takePassedSockets({}), []);
  const other = { LISTEN_FDS: "1", LISTEN_PID: `${process.pid + 1}`, LISTEN_FDNAMES: "a", A: "1" };
  assert.deepEqual(await takePassedSockets(other), []);
  assert.deepEqual(other, { A: "1" }, "no child process takes them for its own");
});

test("takePassedSockets() refuses a number of sockets that is none", async () => {
  for (const count of ["x", "-1", "1.5", "101"]) {
    const given = { LISTEN_FDS: count, LISTEN_PID: `${process.pid}` };
    await assert.rejects(takePassedSockets(given), {
      message: `LISTEN_FDS is ${count}: it must be a number from 0 to 100`,
    });
  }
});

/** Runs takePassedSockets() in a process that has these descriptors from 3 on. */
function taken(descriptors: readonly number[]): unknown {
  const module = JSON.stringify(new URL("passed-sockets.ts", import.meta.url).href);
  const code = `import { takePassedSockets } from ${module};
    const given = { LISTEN_FDS: "${descriptors.length}", LISTEN_PID: String(process.pid) };
    const result = await takePassedSockets(given).catch((error) => error.message);
    console.log(JSON.stringify(result));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module-typescript", "-e", code],
    { stdio: ["ignore", "pipe", "pipe", ...descriptors], encoding: "utf8" },
  );
  assert.ok(stdout !== "", stderr);
  return JSON.parse(stdout);
}

test("takePassedSockets() returns the descriptors with the addresses to which they are bound", () => {
  using first = openKeptSocket("127.0.0.1");
  using second = openKeptSocket("::1");
  assert.deepEqual(taken([first.descriptor, second.descriptor]), [
    { descriptor: 3, host: "127.0.0.1", port: first.port },
    { descriptor: 4, host: "::1", port: second.port },
  ]);
});

test("takePassedSockets() refuses what is not a TCP socket that listens", () => {
  using good = openKeptSocket();
  for (const kind of ["TCP without listening", "UDP", "Unix"] as const) {
    using other = openOtherSocket(kind);
    assert.equal(
      taken([good.descriptor, other.descriptor]),
      "systemd passes something that is not a TCP socket that listens (descriptor 4): in hlust.socket, use ListenStream=ADDRESS:PORT and leave out Accept",
      kind,
    );
  }
});
