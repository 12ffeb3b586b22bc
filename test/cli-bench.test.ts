// Runs the load tool as a program against the whole service.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { wavHeader } from "../src/std/wav.ts";
import { startService, type ServiceProcess } from "./fault/process.ts";
import { until } from "./fixtures/until.ts";

const hlust = resolve(import.meta.dirname, "../bin/hlust");
const scripted = { HLUST_ENGINE: "scripted", HLUST_LOG: "error" };
const folder = mkdtempSync(join(tmpdir(), "hlust-bench-test-"));
let service: ServiceProcess;

before(async () => {
  service = await startService(join(folder, "data"), scripted);
});
after(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

/** Runs `hlust bench` with the arguments of a line. */
async function bench(line: string, environment: Record<string, string> = {}) {
  const child = spawn(hlust, ["bench", ...line.split(" ")], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HLUST_TOKEN: service.key, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  const exited = once(child, "exit");
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exited;
  return { code: typeof code === "number" ? code : null, out, errors } satisfies Ended;
}

/**
 * Writes a file in which speech for the scripted engine (any sample but 0) and silence alternate,
 * with durations in ms.
 */
function writeSpeech(name: string, pieces: readonly number[], sampleRateHertz = 16_000): string {
  const samples = pieces.map((ms, at) =>
    new Int16Array((ms * sampleRateHertz) / 1000).fill(at % 2 === 0 ? 1000 : 0),
  );
  const bytes = Buffer.concat(samples.map(({ buffer }) => new Uint8Array(buffer)));
  const path = join(folder, name);
  const header = wavHeader({ sampleRateHertz, dataBytes: bytes.length });
  writeFileSync(path, Buffer.concat([header, bytes]));
  return path;
}

test("paced streams end without losses, and the table contains all times", async () => {
  const file = writeSpeech("paced.wav", [900, 600, 500]);
  const { code, out, errors } = await bench(
    `stream --url ${service.address} --streams 8 --ramp 0.2 ${file}`,
  );
  assert.equal(code, 0, out + errors);
  assert.match(out, /^ended +8 succeeded, 0 failed$/m);
  assert.match(out, /^finals +16, lost 0, differing streams 0$/m);
  assert.match(out, /^closed with +1000: 8$/m);
  for (const name of ["open", "interim lag", "final lag", "last final lag", "close"]) {
    assert.match(out, new RegExp(`^${name} +\\d+( +\\d+\\.\\d){4}$`, "m"), name);
  }
  assert.match(out, /^server +\d\.\d\d cores, \d+(\.\d)? [mu]s per chunk; memory \d+ MiB/m);
  assert.match(out, /1 x hlust\.ts/);
  assert.match(out, /1 x engine-process\.ts/);
  assert.match(out, /\d x postgres/);
  assert.match(out, /^this tool +\d\.\d\d cores; event loop late by /m);
});

test("--json prints every figure, and unpaced streams send audio of the given duration", async () => {
  const url = service.address.replace("http", "ws");
  const { code, out, errors } = await bench(
    `stream --url ${url} --token-in query --streams 4 --rate 0 --duration 74 --json`,
  );
  assert.equal(code, 0, out + errors);
  const report = JSON.parse(out);
  assert.deepEqual(report.streams, { started: 4, ended: 4, failed: 0 });
  assert.equal(report.chunks, 4 * 740);
  // The built-in recording has six words and one final result in each 3.7 s.
  assert.deepEqual(report.messages, { interim: 4 * 20 * 6, final: 4 * 20 });
  assert.equal(report.finals, 80);
  assert.deepEqual([report.lost, report.differingStreams, report.failures], [0, 0, []]);
  assert.equal(report.interimLagMs.count, 480);
  assert.ok(report.interimLagMs.p50 >= 0 && report.interimLagMs.p50 <= report.interimLagMs.max);
  assert.ok(report.server.cpuMs > 0 && report.server.memoryBytes.max > 1e7);
  assert.equal(report.tool.sendsLateMs, undefined);
});

test("lag is measured from the chunk for which a message waited", async () => {
  // The file contains speech of one word, and the silence that ends the word. The silence for which
  // the service waits must not count as lag.
  const file = writeSpeech("lag.wav", [400, 1200]);
  const line = `stream --url ${service.address} --streams 2 --json ${file}`;
  const { finalLagMs, interimLagMs } = JSON.parse((await bench(line)).out);
  assert.deepEqual([finalLagMs.count, interimLagMs.count], [2, 2]);
  assert.ok(finalLagMs.max < 400, `final ${finalLagMs.max}: the 500 ms of silence are in it`);
  const waited = JSON.parse((await bench(`${line} --min-silence 100`)).out);
  assert.ok(waited.finalLagMs.p50 >= 390, `${waited.finalLagMs.p50}: counted too late`);
});

test("bench recognize and bench jobs report their times", async () => {
  const file = writeSpeech("short.wav", [1000, 700], 8000);
  const calls = await bench(
    `recognize --url ${service.address} --calls 6 --in-flight 3 --json ${file}`,
  );
  assert.equal(calls.code, 0, calls.out + calls.errors);
  const report = JSON.parse(calls.out);
  assert.deepEqual(report.calls, { started: 6, failed: 0 });
  assert.deepEqual([report.answerMs.count, report.differing], [6, 0]);
  assert.ok(Math.abs(report.audioSeconds - 6 * 1.7) < 0.01);
  const jobs = await bench(
    `jobs --url ${service.address} --jobs 2 --in-flight 2 --poll-ms 50 ${file}`,
  );
  assert.equal(jobs.code, 0, jobs.out + jobs.errors);
  assert.match(jobs.out, /^jobs +2, 2 at a time, at http\S+: 0 failed$/m);
  assert.match(jobs.out, /^transcript +2( +\d+\.\d){4}$/m);
});

test("failures of a server that is killed during a run are counted, and the exit code is 1", async () => {
  const data = join(folder, "victim");
  const victim = await startService(data, scripted);
  const line = `stream --url ${victim.address} --streams 5 --ramp 0 --duration 30 --json`;
  const run = bench(line, { HLUST_TOKEN: victim.key });
  await until(async () => {
    const response = await fetch(`${victim.address}/readyz`);
    return /"sessions":5\b/.test(await response.text());
  });
  await victim.crash();
  const { code, out } = await run;
  assert.equal(code, 1);
  const { streams, failures, closeCodes } = JSON.parse(out);
  assert.deepEqual(streams, { started: 5, ended: 0, failed: 5 });
  assert.deepEqual(closeCodes, { 1006: 5 });
  const counts = failures.map(({ count }: { count: number }) => count);
  assert.equal(
    counts.reduce((sum: number, count: number) => sum + count, 0),
    5,
    out,
  );
  // The PostgreSQL process of the killed service still runs, and the next service stops it.
  await (await startService(data, scripted)).stop();
});

test("failures of a missing server, and of a server that refuses the token, are counted by kind", async () => {
  const unused = createServer().listen(0, "127.0.0.1");
  await once(unused, "listening");
  const address = unused.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  unused.close();
  const rows: [line: string, problem: RegExp][] = [
    [`stream --url http://127.0.0.1:${port} --streams 3`, /3 x ECONNREFUSED/],
    [`recognize --url http://127.0.0.1:${port} --calls 2`, /2 x ECONNREFUSED/],
    [`stream --url ${service.address} --token wrong`, /1 x HTTP 401: the server answered/],
    [`recognize --url ${service.address} --token wrong`, /20 x HTTP 401/],
    [`jobs --url ${service.address} http://127.0.0.1:9/a.wav`, /1 x state ERROR/],
    [`stream --url ${service.address} --language xx`, /1 x error 3: .*xx/],
  ];
  for (const [line, problem] of rows) {
    const { code, out, errors } = await bench(line);
    assert.equal(code, 1, line);
    assert.match(out, problem, line + errors);
  }
});

test("invalid arguments are refused by name, and the usage is printed", async () => {
  const stereo = join(folder, "stereo.wav");
  const header = wavHeader({ sampleRateHertz: 16_000, channels: 2, dataBytes: 4 });
  writeFileSync(stereo, Buffer.concat([header, Buffer.alloc(4)]));
  const long = writeSpeech("long.wav", [30_000]);
  const rows: [line: string, problem: RegExp][] = [
    ["speed", /unknown benchmark "speed"/],
    ["stream --streams many", /--streams must be a whole number from 1 to 60000, not "many"/],
    ["stream --streams 1.5", /--streams must be a whole number .*, not "1.5"/],
    ["stream --rate -1", /--rate/],
    ["stream --chunk-ms 0", /--chunk-ms must be a number from 1 to 10000, not "0"/],
    ["stream --interim maybe", /--interim must be true or false, not "maybe"/],
    ["stream --speed 1", /unknown option --speed/],
    ["stream --url ftp://a", /--url must be http\(s\):\/\/host:port, not "ftp:\/\/a"/],
    ["stream none.wav", /none\.wav: .*ENOENT/],
    [`stream ${stereo}`, /stereo\.wav has 2 channels: one channel of 16-bit/],
    [`stream ${hlust}`, /hlust is not a WAV file/],
    [`recognize ${long}`, /long\.wav must be shorter than 30 s, not 30\.0 s/],
    ["jobs", /no media: give a URL or a file/],
    ["jobs none.mp3", /none\.mp3: .*ENOENT/],
  ];
  for (const [line, problem] of rows) {
    const { code, out, errors } = await bench(line);
    assert.equal(code, 2, line);
    assert.match(errors, problem, line);
    assert.match(errors, /^Usage: hlust bench/m, line);
    assert.equal(out, "");
  }
  const help = await bench("stream --help");
  assert.equal(help.code, 0);
  assert.match(help.out, /^Usage: hlust bench stream \[options\] \[file\.wav\.\.\.\]$/m);
  assert.match(help.out, /--streams N +concurrent streams \(1\)/);
});
