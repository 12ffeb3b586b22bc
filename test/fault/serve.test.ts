// The service as a process: how it starts, becomes ready, drains and stops, and what remains after
// a kill -9.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { speak } from "../fixtures/flite.ts";
import { callRest, pcmOf } from "../spec/service.ts";
import { finalsOf, openStream, streamingConfig } from "../spec/stream.ts";
import { draftOf } from "../spec/transcripts.ts";
import { until } from "../fixtures/until.ts";
import { fsckClean } from "./fsck-clean.ts";
import { postgresOf, type ServiceProcess, startService, treeOf } from "./process.ts";

const hlust = resolve(import.meta.dirname, "../../bin/hlust");
let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-fault-"));
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** For tests in which the words do not matter. */
const scripted = { HLUST_ENGINE: "scripted" };

test("bin/hlust runs on the pinned Node from any folder, whichever node is on the PATH", () => {
  const old = join(folder, "old");
  execFileSync("mkdir", ["-p", old]);
  writeFileSync(join(old, "node"), "#!/bin/sh\necho v12.0.0; exit 1\n", { mode: 0o755 });
  execFileSync("ln", ["-sfn", hlust, join(folder, "hlust")]);
  const env = { PATH: `${old}:/usr/bin:/bin` };
  const text = execFileSync(join(folder, "hlust"), ["version"], {
    cwd: "/",
    env,
    encoding: "utf8",
  });
  assert.match(text, /^hlust \d+\.\d+\.\d+, Node 24\./);
});

test("an invalid setting, an unknown setting and an unknown command are named in the error", () => {
  const run = (args: string[], env: Record<string, string> = {}) =>
    spawnSync(hlust, args, { env: { PATH: "/usr/bin:/bin", ...env }, encoding: "utf8" });
  const bad = run(["serve"], { HLUST_PORT: "x", HLUST_PROT: "1" });
  assert.equal(bad.status, 2);
  assert.match(bad.stderr, /HLUST_PROT is not a setting/);
  assert.match(bad.stderr, /HLUST_PORT must be a whole number from 0 to 65535, not "x"/);
  const unknown = run(["sevre"]);
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /unknown command "sevre"/);
  const config = run(["config"], { DATABASE_URL: "postgres://a:secret@b/c" });
  assert.equal(config.status, 0);
  assert.match(config.stdout, /HLUST_PORT/);
  assert.equal(config.stdout.includes("secret"), false);
});

test("serve prints the first key and a link once, then one line when ready; SIGTERM ends it with 0", async () => {
  const data = join(folder, "lines");
  mkdirSync(join(data, "postgres"), { recursive: true });
  await using first = await startService(data);
  assert.match(
    first.output().out,
    /^hlust: the first API key is hlust_\S+ .*\nhlust: open the console.*: http:\/\/127\.0\.0\.1:\d+\/console\/#signInToken=hlust_signin_\S+\nhlust: ready at http:\/\/127\.0\.0\.1:\d+\n$/,
  );
  const tree = [...treeOf(first.pid), ...postgresOf(data)];
  assert.ok(tree.some(({ command }) => command.includes("engine-process")));
  assert.ok(tree.some(({ command }) => command.includes("postgres -D")));
  assert.equal(await first.stop(), 0);
  // Processes that outlive their parent are removed by init a moment later.
  for (const { pid } of tree) {
    await until(() => Promise.resolve(!existsSync(`/proc/${pid}`)), 2_000);
  }

  await using second = await startService(data, scripted);
  await fsckClean(data);
  assert.match(second.output().out, /^hlust: ready at http:\/\/127\.0\.0\.1:\d+\n$/);
  assert.equal(second.output().errors.includes(second.key), false);
});

/** Returns whether a new stream is accepted, and closes the stream again. */
async function isTaken({ address, key }: ServiceProcess): Promise<boolean> {
  try {
    const stream = await openStream(address, { token: key });
    stream.terminate();
    return true;
  } catch {
    return false;
  }
}

test("after SIGTERM, open streams get their final results and new streams are refused", async () => {
  await using service = await startService(join(folder, "drain"));
  const stream = await openStream(service.address, { token: service.key });
  stream.send(streamingConfig());
  const sentence = "thank you very much for your letter";
  stream.sendAudio(pcmOf(speak(sentence)));
  await stream.waitFor(({ result }) => (result?.results?.length ?? 0) > 0);
  const began = performance.now();
  const exit = service.stop();
  // Waits until the service has handled the signal.
  await until(async () => !(await isTaken(service)), 10_000);
  assert.equal(await stream.closed, 1012);
  assert.deepEqual(
    finalsOf(stream.messages).map(({ transcript }) => transcript),
    [`${sentence} `],
  );
  assert.equal(await exit, 0);
  assert.ok(performance.now() - began < 30_000);
});

test("kill -9 of any process of the tree loses nothing that was acknowledged", async () => {
  const data = join(folder, "kill");
  const names: string[] = [];
  let service = await startService(data, scripted);
  // The service that is currently running is stopped even if an assertion fails.
  await using running = new AsyncDisposableStack();
  running.defer(async () => {
    await service.stop();
  });
  const { key } = service;
  const create = async () => {
    const call = {
      method: "POST",
      path: "/v1alpha1/transcripts",
      body: draftOf(`nr ${names.length}`),
    };
    const { status, json } = await callRest(service.address, key, call);
    if (status === 200) names.push(json.name);
    return status;
  };
  const checkAll = async () => {
    for (const name of names) {
      const call = { method: "GET", path: `/v1alpha1/${name}` };
      let status = 503;
      // PostgreSQL may be stopping or starting again after a call that it still answered.
      await until(async () => {
        ({ status } = await callRest(service.address, key, call));
        return status !== 503;
      }, 20_000);
      assert.equal(status, 200, name);
    }
  };
  assert.equal(await create(), 200);

  // The service is killed: calls in flight may fail, but acknowledged writes remain.
  const writing = Promise.allSettled(Array.from({ length: 20 }, () => create()));
  await create();
  await service.crash();
  await writing;
  service = await startService(data, scripted);
  assert.equal(service.key, key);
  await checkAll();

  // An engine process is killed: the next call is sent to another one.
  const engine = treeOf(service.pid).find(({ command }) => command.includes("engine-process"));
  assert.ok(engine);
  process.kill(engine.pid, "SIGKILL");
  const wav = speak("nothing is lost");
  const body = {
    config: { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" },
    audio: { content: wav.toString("base64") },
  };
  await until(async () => {
    const call = { method: "POST", path: "/v2beta1/speech:recognize", body };
    return (await callRest(service.address, key, call)).status === 200;
  }, 20_000);

  // The PostgreSQL postmaster, a backend and the WAL writer are killed in turn.
  for (const which of [/bin\/postgres -D/, /postgres: .*hlust postgres/, /postgres: .*walwriter/]) {
    const found = postgresOf(data).find(({ command }) => which.test(command));
    assert.ok(found, String(which));
    process.kill(found.pid, "SIGKILL");
    await until(async () => (await create()) === 200, 20_000);
    await checkAll();
  }
  await fsckClean(data);
});

test("after SIGTERM, an open gRPC stream gets its final results immediately and ends with UNAVAILABLE", async () => {
  await using service = await startService(join(folder, "drain-grpc"));
  const client = createClient(Speech, createGrpcTransport({ baseUrl: service.address }));
  const sentence = "my brother lives in a small town";
  const samples = pcmOf(speak(sentence));
  const { promise: never } = Promise.withResolvers<never>();
  async function* requests() {
    const config = { encoding: 1 as const, sampleRateHertz: 16_000, languageCode: "en-US" };
    const value = { config, interimResults: true };
    yield { streamingRequest: { case: "streamingConfig" as const, value } };
    yield { streamingRequest: { case: "audioContent" as const, value: samples } };
    await never;
  }
  const headers = { authorization: `Bearer ${service.key}` };
  const finals: string[] = [];
  let exit: Promise<number | null> | undefined;
  const began = performance.now();
  const listen = async () => {
    for await (const { results } of client.streamingRecognize(requests(), { headers })) {
      exit ??= service.stop();
      for (const { isFinal, alternatives } of results) {
        if (isFinal) finals.push(alternatives[0]?.transcript ?? "");
      }
    }
  };
  // The stream never ends with OK, since the caller is still sending.
  await assert.rejects(listen(), { code: Code.Unavailable });
  assert.deepEqual(finals, [`${sentence} `]);
  assert.equal(await exit, 0);
  assert.ok(performance.now() - began < 30_000);
  assert.equal(service.output().errors.includes("call.broken"), false);
});

test("SIGTERM before serve is ready ends it with 0 and leaves no process", async () => {
  const data = join(folder, "early");
  await using _made = await startService(data, scripted);
  await _made.stop();
  for (const afterMs of [50, 200, 400, 600]) {
    const env = {
      PATH: process.env["PATH"],
      HLUST_PORT: "0",
      HLUST_DATA: data,
      HLUST_FRONT_PROCESSES: "1",
      ...scripted,
    };
    const child = spawn(hlust, ["serve"], { env, stdio: "ignore" });
    const exited = once(child, "exit");
    await delay(afterMs);
    const tree = treeOf(child.pid ?? 0);
    child.kill("SIGTERM");
    const [code, signal] = await exited;
    // Before the service listens for the signal, the signal ends the process in the usual way.
    assert.ok(code === 0 || signal === "SIGTERM", `${afterMs} ms: ${code} ${signal}`);
    const postgres = postgresOf(data);
    assert.ok(code !== 0 || postgres.length === 0, "its PostgreSQL is gone");
    for (const { pid, command } of tree) {
      if (!command.includes("postgres")) await until(async () => !existsSync(`/proc/${pid}`));
    }
  }
  await fsckClean(data);
});
