// Tests diarization on engine nodes, all in this process, with a real model.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "../../../test/fixtures/engine-pool-fixture.ts";
import { espeak, flite, joined, silence } from "../../../test/fixtures/flite.ts";
import { freePort } from "../../../test/fixtures/free-port.ts";
import { toneRecognizer, wavOf } from "../../../test/fixtures/jobs-fixture.ts";
import {
  openEngineNode,
  type OpenEngineNode,
  openNodesPool,
  untilReady,
} from "../../../test/fixtures/open-engine-node.ts";
import { testModelsFolder } from "../../../test/fixtures/sherpa-models.ts";
import { until as untilAsync } from "../../../test/fixtures/until.ts";
import { openWorkerFixture } from "../../../test/fixtures/worker-fixture.ts";
import { TranscriptJob_State as State } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { EnginePool } from "../pool/engine-pool.ts";
import type { WindowSpeakers } from "../protocol/recognizer.ts";
import type { ProcessesClient } from "./shared-processes.ts";

const models = { engine: "auto", only: "diarization", modelsFolder: testModelsFolder } as const;
const said = [
  flite("good morning and welcome to the meeting of today", { voice: "rms" }),
  espeak("thank you it is good to be here again with all of you", { voice: "en+f3" }),
].flatMap((samples) => [samples, silence(300)]);
const talk = joined(...said, ...said);
const never = new AbortController().signal;

let first: OpenEngineNode;
let second: OpenEngineNode;
let pool: EnginePool;
let expected: WindowSpeakers;
before(async () => {
  [first, second] = await Promise.all([
    openEngineNode(1, { models }),
    openEngineNode(1, { models }),
  ]);
  pool = await openNodesPool([first.port, second.port]);
  await untilReady(pool, 2);
  expected = await pool.diarize(talk, never);
  assert.equal(expected.speakers.length, 2);
});
after(async () => {
  await pool[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

const pidOf = (node: OpenEngineNode) => node.pool.measures().pids.get("diarization")?.[0];

/**
 * Opens windows until each of these nodes has one at the same time. A process that has not reported
 * in time, on a busy machine, gets none.
 */
async function openWindows(own: EnginePool, nodes: readonly OpenEngineNode[]) {
  const windows: Promise<WindowSpeakers>[] = [];
  let open = 0;
  const sessions = () => nodes.map(({ shared }) => shared.sessions);
  while (sessions().includes(0)) {
    assert.ok(windows.length < 40, "one node has all windows");
    open += 1;
    windows.push(own.diarize(talk, never).finally(() => (open -= 1)));
    await until(
      () => sessions().reduce((sum, each) => sum + each, 0) >= open,
      () => `${sessions().join(" and ")} of ${open} windows`,
    );
  }
  return windows;
}

test("windows are spread over the engine nodes by their load", async () => {
  const windows = await openWindows(pool, [first, second]);
  for (const found of await Promise.all(windows)) assert.deepEqual(found, expected);
});

test("a window whose engine node dies, or whose process does, is diarized by another one", async () => {
  const port = await freePort();
  for (const kill of [
    (node: OpenEngineNode) => void process.kill(pidOf(node) ?? 0, "SIGKILL"),
    (node: OpenEngineNode) => node[Symbol.asyncDispose](),
  ]) {
    await using third = await openEngineNode(1, { models, port });
    await using own = await openNodesPool([third.port, second.port]);
    await untilReady(own, 2);
    const windows = await openWindows(own, [third, second]);
    await kill(third);
    for (const found of await Promise.all(windows)) assert.deepEqual(found, expected);
  }
});

test("audio that ends every process that works on it is refused, and no other", async () => {
  await using third = await openEngineNode(1, { models });
  await using own = await openNodesPool([third.port]);
  await untilReady(own, 1);
  // A process is killed whenever it reports that it begins to work on the window.
  let reports = 0;
  const killer: ProcessesClient = {
    sessions: 0,
    place: 0,
    ready() {},
    retiring() {},
    gone() {},
    loaded() {},
    leaving() {},
    useOf: () => undefined,
    working({ pid }, session) {
      if (session === 0) return;
      reports += 1;
      process.kill(pid, "SIGKILL");
    },
  };
  third.shared.join(killer);
  const broken = own.diarize(joined(talk, talk, talk), never).catch((error: unknown) => error);
  await until(() => third.shared.sessions === 1, "it has the window");
  // It reports its work on a window only after another process was lost with it.
  process.kill(pidOf(third) ?? 0, "SIGKILL");
  const error = await broken;
  assert.ok(error instanceof Error && "reason" in error, String(error));
  assert.equal(error.reason, "ENGINE_FAILED");
  assert.equal(reports, 2);
  third.shared.part(killer);
  await untilReady(own, 1);
  assert.deepEqual(await own.diarize(talk, never), expected);
});

test("a job waits for an engine node that diarizes, and ends with its speakers", async () => {
  await using fixture = await openWorkerFixture();
  const { jobs, account, submit, transcriptOf } = fixture;
  const port = await freePort();
  const gone = await openEngineNode(1, { models, port });
  await using own = await openNodesPool([port]);
  await untilReady(own, 1);
  await gone[Symbol.asyncDispose]();
  await untilReady(own, 0);
  const seconds = Math.floor(talk.length / 16_000);
  const words = Array.from({ length: seconds }, (_, at) => {
    return { text: `w${at}`, startMs: 1_000 * at, endMs: 1_000 * at + 900 };
  });
  await using _worker = await jobs.openWorker({
    ...toneRecognizer(),
    canDiarize: () => own.canDiarize(),
    checkDiarizer: () => own.checkDiarizer(),
    diarize: (window, signal) => own.diarize(window, signal),
    async *recognize(input) {
      await Array.fromAsync(input);
      const text = words.map((word) => word.text).join(" ");
      yield { isFinal: true, alternatives: [{ text, words }], audioEndMs: 1_000 * seconds };
    },
  });
  const name = await submit("/talk.wav", wavOf(talk));
  await untilAsync(async () => {
    const { rows } = await jobs.database.pool.query("select lease from transcript_job");
    return rows[0].lease >= 3;
  });
  assert.equal((await jobs.get(account, name)).state, State.PROCESSING);
  await using _back = await openEngineNode(1, { models, port });
  const job = await jobs.ended(account, name);
  assert.equal(job.state, State.SUCCESS, job.error?.message);
  const { segments } = await transcriptOf(job);
  const found = new Set(segments.map(({ speakerId }) => speakerId));
  assert.deepEqual([...found].toSorted(), ["1", "2"]);
});

test("an engine node that is stopped gets no more windows, and ends with those that it has", async () => {
  const windows = await openWindows(pool, [first, second]);
  const kept = first.shared.sessions;
  first.shared.leave();
  await until(() => pool.state().nodes?.[0]?.leaving === true, "it is leaving");
  for (let at = 0; at < 3; at += 1) windows.push(pool.diarize(talk, never));
  await until(() => second.shared.sessions >= 3, "the other has the new ones");
  assert.ok(first.shared.sessions <= kept);
  await until(() => first.shared.sessions === 0, "it can end");
  for (const found of await Promise.all(windows)) assert.deepEqual(found, expected);
  pool.checkDiarizer();
  second.shared.leave();
  await until(() => pool.state().nodes?.[1]?.leaving === true, "it is leaving");
  assert.throws(() => pool.checkDiarizer(), { code: "unavailable", reason: "NO_ENGINE" });
  await assert.rejects(pool.diarize(talk, never), { code: "unavailable", reason: "NO_ENGINE" });
});
