// All engine nodes away at once: streams and jobs wait, calls are refused, and no word is lost.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { callRest } from "../spec/service.ts";
import { type ApartNodes, openApartNodes } from "./apart-nodes.ts";
import { chunksOf, type FinalDelay, quietFinals, stream, streamPart } from "./apart-streams.ts";
import { chanceOf } from "./chance.ts";
import { JobLedger } from "./job-ledger.ts";
import { scriptedSamples } from "./scripted-recording.ts";

const recording = {
  name: "recording",
  bytes: wavOf(scriptedSamples([700, 2_300, 1_200], { pauseMs: 900 })),
};

let nodes: ApartNodes;
let ledger: JobLedger;
before(async () => {
  // A node with jobs, so that the same test has streams, calls and jobs.
  nodes = await openApartNodes({ engines: 2, apis: 1, role: "all", processes: 1 });
  await nodes.untilAllBack();
  const { key, address } = service();
  ledger = new JobLedger({ key, address: () => address }, chanceOf(1));
  await ledger.learn([recording]);
});
after(() => nodes[Symbol.asyncDispose](), { timeout: 120_000 * cpuSlowness });

const service = () => (nodes.apis[0] ?? assert.fail()).service;
const never = new AbortController().signal;

/** Kills all engine nodes, and starts them again after the action, whose result it returns. */
async function whileAway<T>(action: () => Promise<T>): Promise<T> {
  await Promise.all(nodes.engines.map(async (engine) => await engine.service.crash()));
  const result = await action();
  await Promise.all(nodes.engines.map(async (engine) => await engine.start()));
  return result;
}

async function recognizeShort() {
  const body = {
    config: { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" },
    audio: { content: recording.bytes.subarray(44).toString("base64") },
  };
  const { address, key } = service();
  return await callRest(address, key, { method: "POST", path: "/v2beta1/speech:recognize", body });
}

test("streams wait for engine nodes that are all away, calls are refused, and jobs wait", async () => {
  const before = await recognizeShort();
  assert.equal(before.status, 200, JSON.stringify(before.json));
  let begun = 0;
  const running = [0, 1, 2].map(async (index) => {
    const delays: FinalDelay[] = [];
    const chunks = chunksOf(index).slice(0, 160);
    const found = stream(service(), chunks, never, delays);
    await until(async () => Promise.resolve(delays.length >= 2));
    begun += 1;
    return await found;
  });
  for (const each of running) each.catch(() => {});
  await until(async () => Promise.resolve(begun === 3));
  await whileAway(async () => {
    const job = await ledger.submit(recording);
    const { status, headers, json } = await recognizeShort();
    assert.deepEqual([status, json.code], [503, 14], JSON.stringify(json));
    assert.equal(json.details[0].reason, "NO_ENGINE");
    assert.ok(Number(headers.get("retry-after")) >= 1);
    assert.equal((await ledger.get(job.name)).state, "PROCESSING");
  });
  await ledger.verify(() => false);
  const found = await Promise.all(running);
  for (const [index, each] of found.entries()) {
    const quiet = await quietFinals(service(), index, each.sent);
    assert.ok(quiet.length > 5);
    assert.deepEqual(each.finals, quiet, `stream ${index}`);
  }
  assert.deepEqual((await recognizeShort()).json, before.json);
});

test("streams end after 30 s without engine nodes, with what was said before, and jobs wait on", async () => {
  const delays: FinalDelay[] = [];
  const running = streamPart(service(), chunksOf(3), never, delays);
  await until(async () => Promise.resolve(delays.length >= 2));
  const said = await whileAway(async () => {
    const sinceMs = performance.now();
    const job = await ledger.submit(recording);
    const { finals, sent, code, last } = await running;
    const tookMs = performance.now() - sinceMs;
    assert.ok(tookMs > 25_000, `it ended after ${tookMs} ms`);
    assert.equal(code, 1013);
    assert.equal(last?.error?.code, 14, JSON.stringify(last));
    assert.match(JSON.stringify(last?.error?.details), /"NO_ENGINE"/);
    assert.equal((await ledger.get(job.name)).state, "PROCESSING");
    return { finals, sent };
  });
  await ledger.verify(() => false);
  const quiet = await quietFinals(service(), 3, said.sent);
  assert.ok(said.finals.length >= 2 && said.finals.length < quiet.length);
  assert.deepEqual(said.finals, quiet.slice(0, said.finals.length));
});
