import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  enginePids,
  isAlive,
  openInput,
  recognize,
  scriptedOptions,
  speech,
  until,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { silence } from "../../../test/fixtures/flite.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { type EnginePool, openEnginePool } from "./engine-pool.ts";
import type { RecognitionInput } from "../protocol/recognizer.ts";

const log = createLog("silent");
let pool: EnginePool;
before(async () => {
  pool = await openEnginePool({ engine: "scripted", processes: 2, log });
});
after(() => pool[Symbol.asyncDispose]());

test("sessions are spread over the processes, and each gets only its own results", async () => {
  const lengths = Array.from({ length: 20 }, (_, index) => 300 + 250 * index);
  const open = lengths.map((ms) => openInput(speech(ms), silence(600)));
  const running = open.map(({ input }) => pool.recognize(input, scriptedOptions));
  const finals = await Promise.all(running.map((recognition) => recognition.next()));
  for (const [index, { value }] of finals.entries()) {
    assert.ok(value);
    assert.equal(value.alternatives[0]?.words.at(-1)?.endMs, lengths[index]);
  }
  assert.equal(pool.state().sessions, 20);
  for (const { end } of open) end();
  for (const recognition of running) assert.ok((await recognition.next()).done);
  assert.equal(pool.state().sessions, 0);
});

test("the input is pulled no faster than the process handles it", async () => {
  await using own = await openEnginePool({ engine: "scripted", processes: 1, log });
  const [pid = 0] = enginePids()
    .filter((candidate) => candidate > 0)
    .toReversed();
  const rows = [
    { mode: "live", secondsMax: 2.3 },
    { mode: "short", secondsMax: 30.3 },
  ] as const;
  for (const { mode, secondsMax } of rows) {
    let pulled = 0;
    function* endless(): Generator<RecognitionInput> {
      for (; pulled < 1000; pulled++) yield speech(100);
    }
    process.kill(pid, "SIGSTOP");
    const running = recognize(own, endless(), { mode });
    await until(() => pulled >= 20, "it is pulled at all");
    // The process is stopped. A pool that did not wait for it would immediately pull more.
    await delay(100);
    assert.ok(pulled <= secondsMax * 10, `${mode}: ${pulled / 10} s pulled`);
    process.kill(pid, "SIGCONT");
    assert.equal((await running).length, 10);
    assert.equal(pulled, 1000);
  }
});

test("disposing of the pool ends its processes and their sessions", async () => {
  const others = enginePids();
  const own = await openEnginePool({ engine: "scripted", processes: 2, log });
  assert.equal(enginePids().length, others.length + 2);
  const { input } = openInput(speech(1000), silence(1000));
  const running = own.recognize(input, scriptedOptions);
  await running.next();
  const next = running.next();
  await Promise.all([assert.rejects(next, ServiceError), own[Symbol.asyncDispose]()]);
  assert.deepEqual(enginePids(), others);
  await assert.rejects(recognize(own, [speech(100)]), /no speech engine is ready/);
});

test("openEnginePool() stops when its signal aborts", async () => {
  const before = enginePids().length;
  const controller = new AbortController();
  const opening = openEnginePool({
    engine: "scripted",
    processes: 2,
    log,
    signal: controller.signal,
  });
  controller.abort(new Error("stop"));
  await assert.rejects(opening, /stop/);
  await until(() => enginePids().length === before, "its processes have ended");
});

/** A program that opens a pool, prints a message when it is open, and keeps running. */
const program = `
  import { openEnginePool } from ${JSON.stringify(new URL("engine-pool.ts", import.meta.url).href)};
  import { createLog } from ${JSON.stringify(new URL("../../std/log.ts", import.meta.url).href)};
  const engine = process.argv[1];
  openEnginePool({ engine, processes: 2, log: createLog("silent") }).then(
    () => console.log("open"),
    (error) => console.log("failed: " + error.message),
  );
`;
const nodeArguments = ["--input-type=module", "--eval", program];

test("engine processes end when the service is killed", async () => {
  const service = spawn(process.execPath, [...nodeArguments, "scripted"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(service.stdout, "data");
  const engines = enginePids(service.pid);
  assert.equal(engines.length, 2);
  service.kill("SIGKILL");
  await until(() => !engines.some(isAlive), "they have ended");
});

test("an engine process knows where compiled code is kept, and nothing else of the service's environment", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-compiled-"));
  const service = spawn(process.execPath, [...nodeArguments, "scripted"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: folder, HLUST_TOKEN: "secret" },
  });
  try {
    await once(service.stdout, "data");
    const [engine = 0] = enginePids(service.pid);
    const environment = readFileSync(`/proc/${engine}/environ`, "utf8").split("\0");
    assert.deepEqual(environment.filter((each) => each !== "").toSorted(), [
      "GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
      `NODE_COMPILE_CACHE=${folder}`,
    ]);
  } finally {
    const engines = enginePids(service.pid);
    service.kill("SIGKILL");
    await until(() => !engines.some(isAlive), "they have ended");
    rmSync(folder, { recursive: true });
  }
});

test("openEnginePool() reports what is missing when no process can load a model", async (context) => {
  const hidden = (path: string) => [
    ..."--ro-bind / / --dev /dev --proc /proc --tmpfs".split(" "),
    path,
    process.execPath,
    ...nodeArguments,
    "pocketsphinx",
  ];
  const service = spawn("bwrap", hidden("/usr/share/pocketsphinx"), {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let complained = "";
  service.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  service.stderr.on("data", (chunk: Buffer) => (complained += chunk.toString()));
  await once(service, "close");
  if (said === "" && /bwrap:/.test(complained)) {
    context.skip(`bubblewrap does not work here: ${complained.trim()}`);
    return;
  }
  assert.match(said, /^failed: PocketSphinx: .* is missing; apt-get install pocketsphinx-en-us/);
  assert.equal(complained, "");
});
