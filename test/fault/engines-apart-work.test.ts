// Short calls, jobs and alignments whose engine node is killed, suspended or drained: each has the
// words and times of a quiet run.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { scriptedOrders } from "../../src/engines/scripted/scripted-engine.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";
import { speech } from "../fixtures/engine-pool-fixture.ts";
import { joined } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { AlignmentCalls, slow } from "../spec/alignment.ts";
import { callRest } from "../spec/service.ts";
import { type ApartNodes, type EngineProcess, nodesOf, openApartNodes } from "./apart-nodes.ts";
import { chanceOf } from "./chance.ts";
import { JobLedger } from "./job-ledger.ts";
import { scriptedSamples } from "./scripted-recording.ts";

/** Speech for which the engine waits some seconds in the middle, without working. */
const waited = joined(
  speech(400),
  new Int16Array(16 * 40).fill(scriptedOrders.askRemote),
  speech(800),
);
const samples = joined(
  scriptedSamples([700, 2_300], { pauseMs: 900 }),
  waited,
  scriptedSamples([1_200, 600, 3_100], { pauseMs: 700 }),
);
const recording = { name: "recording", bytes: wavOf(samples) };

let nodes: ApartNodes;
let ledger: JobLedger;
let alignments: AlignmentCalls;
before(async () => {
  nodes = await openApartNodes({ engines: 2, apis: 1, role: "all", processes: 1 });
  await nodes.untilAllBack();
  const { key, address } = service();
  ledger = new JobLedger({ key, address: () => address }, chanceOf(1));
  alignments = new AlignmentCalls({
    call: async (method, path, body, headers) =>
      await callRest(address, key, { method, path, body, headers }),
  });
});
after(() => nodes[Symbol.asyncDispose](), { timeout: 120_000 * cpuSlowness });

const service = () => (nodes.apis[0] ?? assert.fail()).service;

/** Returns the answer of a short call. */
async function recognizeShort() {
  const body = {
    config: {
      encoding: "LINEAR16",
      sampleRateHertz: 16_000,
      languageCode: "en-US",
      enableWordTimeOffsets: true,
    },
    audio: { content: Buffer.from(samples.buffer).toString("base64") },
  };
  const { address, key } = service();
  const path = "/v2beta1/speech:recognize";
  const { status, json } = await callRest(address, key, { method: "POST", path, body });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

/** Begins to align a transcript. Returns what waits for its segments. */
async function align() {
  const name = await alignments.create(slow);
  const job = await alignments.begin(name);
  return {
    begun: async () => await alignments.reaches(job, "ALIGNING"),
    async segments() {
      const { state } = await alignments.ended(job);
      assert.equal(state, "SUCCESS");
      const { segments } = await alignments.get(name);
      // The ledger knows the transcripts of its own jobs only.
      const { address, key } = service();
      const { status } = await callRest(address, key, {
        method: "DELETE",
        path: `/v1alpha1/${name}`,
      });
      assert.equal(status, 200);
      return segments;
    },
  };
}

/** What happens to the engine node that has the most sessions. */
const events: readonly [
  what: string,
  happen: (engine: EngineProcess, at: number) => Promise<void>,
][] = [
  [
    "is killed",
    async (engine, at) => {
      await engine.service.crash();
      await nodes.untilNode(at, ({ connected }) => !connected);
      await engine.start();
    },
  ],
  [
    "hangs",
    async (engine, at) => {
      engine.service.child.kill("SIGSTOP");
      await nodes.untilNode(at, ({ connected }) => !connected);
      engine.service.child.kill("SIGCONT");
    },
  ],
  [
    "is drained",
    async (engine, at) => {
      assert.equal(await engine.service.stop(), 0, engine.service.output().errors);
      await nodes.untilNode(at, ({ connected }) => !connected);
      await engine.start();
    },
  ],
];

test("short calls, jobs and alignments give the same result when their engine node dies, hangs or drains", async (context) => {
  const [quietAnswer, quietSegments] = await Promise.all([
    recognizeShort(),
    align().then(async ({ segments }) => await segments()),
    ledger.learn([recording]),
  ]);
  assert.ok(JSON.stringify(quietAnswer).includes("word"));
  for (const [what, happen] of events) {
    const startMs = performance.now();
    await ledger.submit(recording);
    await ledger.submit(recording);
    const alignment = await align();
    const short = Promise.all([recognizeShort(), recognizeShort()]);
    short.catch(() => {});
    await alignment.begun();
    let at = -1;
    await until(async () => {
      const sessions = (await nodesOf(nodes.apis[0] ?? assert.fail())).map((node) => node.sessions);
      const most = Math.max(...sessions);
      at = sessions.indexOf(most);
      return most >= 2;
    });
    await happen(nodes.engines[at] ?? assert.fail(), at);
    for (const answer of await short) assert.deepEqual(answer, quietAnswer, what);
    assert.deepEqual(await alignment.segments(), quietSegments, what);
    await ledger.verify(() => false);
    await nodes.untilAllBack();
    context.diagnostic(`an engine node ${what}: ${Math.round(performance.now() - startMs)} ms`);
  }
});
