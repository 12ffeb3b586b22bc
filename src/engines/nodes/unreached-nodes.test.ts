// Tests what is refused, and what waits, while not all engine nodes are reached.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { recognize, speech, until } from "../../../test/fixtures/engine-pool-fixture.ts";
import { freePort } from "../../../test/fixtures/free-port.ts";
import { type JobRequest, loopbackAllowed, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import {
  openEngineNode,
  type OpenEngineNode,
  openNodesPool,
  untilReady,
} from "../../../test/fixtures/open-engine-node.ts";
import { until as untilAsync } from "../../../test/fixtures/until.ts";
import { openWorkerFixture, type WorkerFixture } from "../../../test/fixtures/worker-fixture.ts";
import {
  SubmitTranscriptJobRequestSchema,
  TranscriptJob_State as State,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { checkSubmit } from "../../jobs/check-submit.ts";
import type { EnginePool } from "../pool/engine-pool.ts";

const english = { engine: "pocketsphinx" } as const;
/** The error that names the node at a port. */
const unreached = (port: number) => ({
  code: "unavailable",
  reason: "NO_ENGINE",
  message: `engine node 127.0.0.1:${port} is not reached yet, or is still loading its models; try again`,
});

let first: OpenEngineNode;
before(async () => {
  first = await openEngineNode(1, { models: english });
});
after(() => first[Symbol.asyncDispose]());

const isKnown = (pool: EnginePool) => {
  try {
    pool.checkModelsKnown();
    return true;
  } catch {
    return false;
  }
};

/** Waits until only the node at this port is not reached. */
const untilOnly = async (pool: EnginePool, port: number) => {
  const { message } = unreached(port);
  await until(() => {
    try {
      pool.checkModelsKnown();
      return false;
    } catch (error) {
      return error instanceof Error && error.message === message;
    }
  }, message);
};

test("a language is unknown only while the models of all engine nodes are known", async () => {
  const port = await freePort();
  await using pool = await openNodesPool([first.port, port]);
  await untilReady(pool, 1);
  const connected = () => pool.state().nodes?.filter((each) => each.connected).length;
  const said = [speech(500)];
  const faroese = { languageCode: "fo-FO" };
  assert.deepEqual(pool.languageCodes("live"), ["en-US"]);
  await recognize(pool, said, { languageCode: "en-US" });
  await untilOnly(pool, port);
  for (const options of [{}, faroese, { model: "other" }]) {
    await assert.rejects(recognize(pool, said, options), unreached(port));
  }
  assert.throws(() => pool.checkModelsKnown(), unreached(port));
  assert.throws(() => pool.canDiarize(), unreached(port));
  {
    await using _second = await openEngineNode(1, { port });
    await until(() => isKnown(pool), "it is known");
    assert.equal((await recognize(pool, said)).length, 1);
    await assert.rejects(recognize(pool, said, faroese), { code: "invalid_argument" });
    assert.equal(pool.canDiarize(), false);
  }
  await until(() => connected() === 1, "it is missing");
  assert.deepEqual(pool.languageCodes("live"), ["en-US", "is-IS"]);
  await assert.rejects(recognize(pool, said, faroese), unreached(port));
  // Its models are known, among them no diarization model: recordings need not wait for it.
  assert.equal(pool.canDiarize(), false);
});

test("the models of a name that is not found are not known, although another name is", async () => {
  const found = new Map([["first.test", ["127.0.0.1"]]]);
  const names = ["first.test", "second.test"].map((host) => {
    return { host, port: first.port, isEncrypted: false };
  });
  await using pool = await openNodesPool(names, {
    lookupMs: 50,
    lookup: async (host) =>
      found.get(host) ?? (await Promise.reject(new Error(`${host} is not found`))),
  });
  await untilReady(pool, 1);
  await until(() => pool.state().nodes?.[0]?.connected === true, "the first is reached");
  const ofSecond = /^engine node second\.test:\d+ is not reached yet/;
  await until(() => {
    try {
      pool.checkModelsKnown();
    } catch (error) {
      return error instanceof Error && ofSecond.test(error.message);
    }
    return assert.fail("the models of all nodes are known");
  }, "only the second is not reached");
  found.set("second.test", ["127.0.0.1"]);
  await until(() => isKnown(pool), "it is found");
});

test("recordings wait for no other address of an engine node whose models were known", async () => {
  const node = await openEngineNode(1);
  const names = ["first.test", "second.test"].map((host) => {
    return { host, port: node.port, isEncrypted: false };
  });
  const lookup = async () => await Promise.resolve(["127.0.0.1"]);
  await using pool = await openNodesPool(names, { lookup, penaltyMs: 100 });
  await untilReady(pool, 1);
  await until(() => isKnown(pool), "both are the same node");
  assert.equal(pool.canDiarize(), false);
  await node[Symbol.asyncDispose]();
  const areBothMissing = () => {
    try {
      pool.checkModelsKnown();
      return false;
    } catch (error) {
      return error instanceof Error && error.message.includes(", engine node second.test");
    }
  };
  await until(areBothMissing, () => JSON.stringify(pool.state().nodes));
  assert.equal(pool.canDiarize(), false);
});

test("a queued job waits for the only engine node with its language, and a request is repeated", async () => {
  await using fixture: WorkerFixture = await openWorkerFixture();
  const { jobs, account, submit } = fixture;
  const port = await freePort();
  await using pool = await openNodesPool([first.port, port]);
  await untilReady(pool, 1);
  await untilOnly(pool, port);
  const check = (request: JobRequest) =>
    checkSubmit(create(SubmitTranscriptJobRequestSchema, request), {
      allow: loopbackAllowed,
      recognizer: pool,
    }).violations;
  const uri = `${fixture.url}/waits.wav`;
  const requestIn = (languageCode: string) =>
    ({ metadata: { languageCode, fileType: 1 }, useUri: true, uri }) as const;
  const [icelandic, inEnglish] = [requestIn("is-IS"), requestIn("en-US")];
  const speakers = { diarizationConfig: { enableSpeakerDiarization: true } };
  assert.throws(() => check(icelandic), unreached(port));
  assert.throws(() => check({ ...inEnglish, model: "scripted" }), unreached(port));
  assert.throws(() => check({ ...inEnglish, ...speakers }), unreached(port));
  assert.deepEqual(check(inEnglish), []);

  await using _worker = await jobs.openWorker(pool);
  const name = await submit("/waits.wav", toneWav([11, 12]), "is-IS");
  await untilAsync(async () => {
    const { rows } = await jobs.database.pool.query("select lease from transcript_job");
    return rows[0].lease >= 2;
  });
  assert.equal((await jobs.get(account, name)).state, State.PROCESSING);
  await using _second = await openEngineNode(1, { port });
  const job = await jobs.ended(account, name);
  assert.equal(job.state, State.SUCCESS, job.error?.message);
  assert.deepEqual(check(icelandic), []);
  assert.equal(check({ ...inEnglish, ...speakers }).length, 1);
});
