// Models at other services: another Hlust in a process of its own, which is killed and started
// again, by its protocols of Google, OpenAI and Vosk.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { type EnginePool, openEnginePool } from "../../src/engines/pool/engine-pool.ts";
import type { Recognition, RecognitionInput } from "../../src/engines/protocol/recognizer.ts";
import { TranscriptJob_State as State } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { espeak, joined, silence } from "../fixtures/flite.ts";
import { freePort } from "../fixtures/free-port.ts";
import { type CutLine, openCutLine, putHostedModel } from "../fixtures/hosted-model.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { textsOf } from "../fixtures/open-model-pool.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { until } from "../fixtures/until.ts";
import { openWorkerFixture } from "../fixtures/worker-fixture.ts";
import { startService, type ServiceProcess } from "./process.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-hosted-"));
const modelsFolder = join(folder, "models");
const dataFolder = join(folder, "server");
const environment: Record<string, string> = {
  HLUST_DEFAULT_LANGUAGE: "is-IS",
  HLUST_VOICE_ACTIVITY: "energy",
};
const sentences = ["góðan daginn", "veðrið er gott í dag"];
const pause = silence(1000);
const parts = sentences.map((sentence) => joined(espeak(sentence), pause));
const talk = joined(pause, ...parts);

let server: ServiceProcess;
let line: CutLine;
let pool: EnginePool;
const logged: Record<string, unknown>[] = [];
const log = pino(
  { base: null, messageKey: "event" },
  { write: (text: string) => void logged.push(JSON.parse(text)) },
);

before(async () => {
  environment["HLUST_PORT"] = `${await freePort()}`;
  server = await startService(dataFolder, environment);
  const host = new URL(server.address).host;
  line = await openCutLine(host);
  const google = { kind: "google-speech", options: { languageCode: "is-IS" } } as const;
  mkdirSync(modelsFolder);
  writeFileSync(join(folder, "key"), `${server.key}\n`);
  const keyFile = join(folder, "key");
  putHostedModel(modelsFolder, {
    ...google,
    name: "hlust-is",
    address: `http://${line.host}`,
    languageCode: "is-IS",
    key: { keyFile },
  });
  // No other model has these languages.
  putHostedModel(modelsFolder, {
    ...google,
    name: "hlust-fo",
    address: `http://${line.host}`,
    languageCode: "fo-FO",
  });
  putHostedModel(modelsFolder, {
    name: "openai-da",
    kind: "openai-transcriptions",
    address: `${server.address}/v1`,
    languageCode: "da-DK",
    options: { languageCode: "is" },
  });
  putHostedModel(modelsFolder, {
    name: "vosk-sv",
    kind: "vosk-server",
    address: `ws://${host}/vosk/is`,
    languageCode: "sv-SE",
  });
  pool = await openEnginePool({
    engine: "auto",
    processes: 1,
    modelsFolder,
    modelKeys: { MODEL_KEY_TEST: server.key },
    voiceActivity: "energy",
    log,
  });
});
after(async () => {
  await pool[Symbol.asyncDispose]();
  await line[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function* inChunks(samples: Int16Array): Generator<Int16Array> {
  for (let at = 0; at < samples.length; at += 1600) yield samples.subarray(at, at + 1600);
}

async function finalsOf(
  input: Iterable<RecognitionInput> | AsyncIterable<RecognitionInput>,
  languageCode: string,
  mode: "live" | "short" | "job" = "live",
): Promise<Recognition[]> {
  const options = { languageCode, mode, sampleRateHertz: 16_000 };
  const finals: Recognition[] = [];
  for await (const each of pool.recognize(input, options)) if (each.isFinal) finals.push(each);
  return finals;
}

function stateOf(name: string) {
  return pool.state().models.find((model) => model.name === name);
}

const plain = (finals: readonly Recognition[]) =>
  textsOf(finals).map((text) => text?.toLowerCase().replaceAll(".", ""));

describe("a model at another Hlust", () => {
  test("gives the words and times that the other gives, in every protocol and mode", async () => {
    for (const [languageCode, modes] of [
      ["is-IS", ["live", "short", "job"]],
      ["da-DK", ["live", "job"]],
      ["sv-SE", ["live", "job"]],
    ] as const) {
      for (const mode of modes) {
        const finals = await finalsOf(inChunks(talk), languageCode, mode);
        assert.deepEqual(plain(finals), sentences, `${languageCode} ${mode}`);
        const words = finals.flatMap(({ alternatives }) => alternatives[0]?.words ?? []);
        assert.equal(words.length, 7, `${languageCode} ${mode}`);
        const starts = words.map(({ startMs }) => startMs);
        assert.ok(
          starts.every((ms, at) => ms > (starts[at - 1] ?? 900)),
          starts.join(),
        );
        const hasConfidence = words.every(({ confidence }) => confidence !== undefined);
        // The protocol of OpenAI has no confidences, and none are invented.
        assert.equal(hasConfidence, languageCode !== "da-DK", `${languageCode} ${mode}`);
      }
    }
  });

  test("gives the text so far while it is spoken", async () => {
    const interim = new AbortController();
    async function* input(): AsyncGenerator<Int16Array> {
      for (const chunk of inChunks(joined(pause, espeak(sentences.join(" "))))) yield chunk;
      // More audio of the utterance comes until the server has sent a text.
      const hum = espeak("og");
      for (let count = 0; count < 200 && !interim.signal.aborted; count++) {
        await sleep(50);
        yield hum.subarray(0, 800);
      }
    }
    const options = { languageCode: "is-IS", mode: "live", sampleRateHertz: 16_000 } as const;
    for await (const each of pool.recognize(input(), { ...options, interim: true })) {
      if (!each.isFinal) interim.abort();
    }
    assert.ok(interim.signal.aborted);
  });

  test("hints reach the server", () => {
    assert.equal(pool.takesHints("is-IS", "live"), true);
    assert.equal(pool.takesHints("sv-SE", "live"), false);
  });

  test("a stream waits for a server that is cut off, and loses no word", async () => {
    async function* input(): AsyncGenerator<Int16Array> {
      yield* inChunks(joined(pause, parts[0] ?? pause));
      await until(() => Promise.resolve(finals.length === 1));
      await line.cut();
      yield* inChunks(parts[1] ?? pause);
      await until(() => Promise.resolve(stateOf("hlust-fo")?.absent === "UNREACHABLE"));
      assert.equal(stateOf("hlust-fo")?.ready, 0);
      await line.open();
    }
    const finals: Recognition[] = [];
    const options = { languageCode: "fo-FO", mode: "live", sampleRateHertz: 16_000 } as const;
    for await (const each of pool.recognize(input(), options)) if (each.isFinal) finals.push(each);
    assert.deepEqual(plain(finals), sentences);
    await until(() => Promise.resolve(stateOf("hlust-fo")?.absent === undefined));
    const events = logged.filter(({ model }) => model === "hlust-fo").map(({ event }) => event);
    assert.deepEqual(events.slice(-2), ["engine.absent", "engine.present"]);
    assert.ok(!JSON.stringify(logged).includes(server.key));
  });

  test("a job waits for it, however many attempts that takes", async () => {
    await using fixture = await openWorkerFixture();
    const { jobs, account } = fixture;
    await line.cut();
    const name = await fixture.submit("/talk.wav", wavOf(talk), "is-IS");
    await using _worker = await jobs.openWorker(pool);
    // More attempts than a job may fail.
    await until(async () => {
      const { rows } = await jobs.database.pool.query("select lease from transcript_job");
      return rows[0].lease > 4;
    }, 60_000);
    const { rows } = await jobs.database.pool.query("select state, tries from transcript_job");
    assert.equal(rows[0].state, "PROCESSING");
    assert.ok(rows[0].tries <= 1, `${rows[0].tries} attempts count`);
    await line.open();
    const job = await jobs.ended(account, name, 120_000);
    assert.equal(job.state, State.SUCCESS, job.error?.message);
    const { text } = await fixture.transcriptOf(job);
    assert.equal(text.toLowerCase().replaceAll(".", ""), sentences.join(" "));
  });

  test("hlust models add and test use it, and name what is wrong in words", async () => {
    const own = join(folder, "own");
    const added = { HLUST_DATA: join(folder, "data"), HLUST_MODELS: join(folder, "installed") };
    const card = { kind: "openai-transcriptions", languageCode: "is-IS" } as const;
    const address = `${server.address}/v1`;
    const put = (changes: { address?: string; name?: string }) =>
      putHostedModel(own, { name: "other", address, ...card, ...changes });
    const keys = { ...added, MODEL_KEY_TEST: server.key };
    const good = await runHlust(["models", "add", put({})], keys);
    assert.equal(good.code, 0, good.errors);
    const tested = await runHlust(["models", "test", "other"], keys);
    assert.equal(tested.code, 0, tested.errors);
    assert.match(tested.out, /s of audio in/);
    const { out } = await runHlust(["models", "list"], keys);
    assert.match(out, new RegExp(`other +is-IS +live,short,job +hosted/openai-.* at ${address}`));

    const rows = [
      [{ ...added }, address, /variable MODEL_KEY_TEST is not set/],
      [{ ...added, MODEL_KEY_TEST: "wrong" }, address, /answered 401/],
      [keys, "http://127.0.0.1:1/v1", /ECONNREFUSED/],
      [keys, "http://x:y@127.0.0.1:1/v1", /must have no user, password/],
    ] as const;
    for (const [given, to, problem] of rows) {
      const bad = await runHlust(["models", "add", put({ address: to })], given);
      assert.equal(bad.code, 1);
      assert.match(bad.errors, problem);
      assert.ok(!`${bad.out}${bad.errors}`.includes(server.key));
    }
    const installed = readFileSync(join(folder, "installed/other/model.json"), "utf8");
    assert.ok(!installed.includes(server.key));
  });

  test("a stream moves to another model of its language when the server is killed", async () => {
    const used = () => stateOf("is-IS-starter")?.sessions ?? 0;
    async function* input(): AsyncGenerator<Int16Array> {
      yield* inChunks(joined(pause, parts[0] ?? pause));
      await until(() => Promise.resolve(finals.length === 1));
      assert.equal(used(), 0);
      await server.crash();
      yield* inChunks(parts[1] ?? pause);
      await until(() => Promise.resolve(used() === 1));
    }
    const finals: Recognition[] = [];
    const options = { languageCode: "is-IS", mode: "live", sampleRateHertz: 16_000 } as const;
    for await (const each of pool.recognize(input(), options)) if (each.isFinal) finals.push(each);
    assert.deepEqual(plain(finals), sentences);
    // New streams and short recordings get the other model at once; a job waits for its own.
    assert.deepEqual(plain(await finalsOf(inChunks(talk), "is-IS", "short")), sentences);
    await assert.rejects(finalsOf(inChunks(talk), "is-IS", "job"), {
      code: "unavailable",
      reason: "NO_ENGINE",
    });
    server = await startService(dataFolder, environment);
    await until(() => Promise.resolve(stateOf("hlust-is")?.ready === 1));
    assert.deepEqual(plain(await finalsOf(inChunks(talk), "is-IS", "job")), sentences);
  });
});
