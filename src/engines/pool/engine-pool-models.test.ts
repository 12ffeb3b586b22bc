// Tests models that are installed, replaced and removed while the pool serves.
import assert from "node:assert/strict";
import { cpSync, renameSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import {
  enginePids,
  isAlive,
  recognize,
  until,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import {
  builtin,
  openModelPool,
  sentences,
  textsOf,
} from "../../../test/fixtures/open-model-pool.ts";
import { testModelsFolder } from "../../../test/fixtures/sherpa-models.ts";
import type { Recognition } from "../protocol/recognizer.ts";

const models = await openModelPool();
after(async () => {
  await models[Symbol.asyncDispose]();
});
beforeEach(() => {
  models.logged.length = 0;
});
const { pool, folder, talk, logged, names, putModel, removeModels } = models;

const faroese = { languageCode: "fo-FO", mode: "live" } as const;
/** Opens a stream that is sent up to its second pause, and continues when resume() is called. */
function openTalk() {
  const resume = Promise.withResolvers<void>();
  async function* input(): AsyncGenerator<Int16Array> {
    const half = talk.length >> 1;
    yield talk.subarray(0, half);
    await resume.promise;
    yield talk.subarray(half);
  }
  const finals: Recognition[] = [];
  const run = async () => {
    const options = { ...faroese, sampleRateHertz: 16_000 };
    for await (const final of pool.recognize(input(), options)) finals.push(final);
    return textsOf(finals);
  };
  return { finals, resume: () => resume.resolve(), texts: run() };
}

test("a model that is installed while the pool runs also serves", async () => {
  assert.deepEqual(pool.languageCodes("live"), ["en-US", "is-IS"]);
  assert.equal(pool.takesHints("is-IS", "live"), true);
  assert.equal(pool.takesHints("en-US", "live"), true);
  assert.equal(pool.takesHints("fo-FO", "live"), false);
  putModel({ name: "faroese" });
  await until(() => pool.languageCodes("live").includes("fo-FO"), "it is loaded");
  assert.deepEqual(names(), [...builtin, "faroese"]);
  assert.deepEqual(textsOf(await recognize(pool, [talk], faroese)), sentences);
  const last = logged.at(-1) ?? {};
  assert.deepEqual(
    ["event", "model", "version"].map((field) => last[field]),
    ["model.loaded", "faroese", "1"],
  );
  await removeModels();
  assert.deepEqual(pool.languageCodes("live"), ["en-US", "is-IS"]);
});

test("a model that is named recognizes its language, even if another one is preferred", async () => {
  putModel({ name: "faroese" });
  putModel({ name: "faroese-new" });
  await until(() => names().length === builtin.length + 2, "they are loaded");
  const usual = pool.modelName("fo-FO", "live");
  const other = usual === "faroese" ? "faroese-new" : "faroese";
  assert.equal(pool.modelName("fo-FO", "live", other), other);
  const sessionsOf = (name: string) =>
    pool.state().models.find((model) => model.name === name)?.sessions;
  const run = pool.recognize([talk], { ...faroese, model: other, sampleRateHertz: 16_000 });
  const first = await run.next();
  assert.deepEqual([sessionsOf(other), sessionsOf(usual ?? "")], [1, 0]);
  const finals = first.done === true ? [] : [first.value];
  for await (const final of run) finals.push(final);
  assert.deepEqual(textsOf(finals), sentences);
  for (const [languageCode, mode, model] of [
    ["fo-FO", "live", "nothing"],
    ["is-IS", "live", "faroese"],
    ["fo-FO", "live", "pocketsphinx-en-US"],
  ] as const) {
    assert.equal(pool.modelName(languageCode, mode, model), undefined);
    const refused = pool.recognize([talk], { languageCode, mode, model, sampleRateHertz: 16_000 });
    await assert.rejects(refused.next(), { code: "invalid_argument" });
  }
  await removeModels();
});

/**
 * Installs a model and opens a stream with it. Returns the stream and the pid of the model's
 * process.
 */
async function openFaroese() {
  const before = new Set(enginePids());
  putModel({ name: "faroese" });
  await until(() => names().length === builtin.length + 1, "it is loaded");
  const [old, more] = enginePids().filter((pid) => !before.has(pid));
  assert.ok(old !== undefined && more === undefined, "it has one process");
  const stream = openTalk();
  await until(() => stream.finals.length > 0, "it has a final");
  return { stream, old };
}

test("replacing or removing a model ends no open stream, and the old process ends after the last stream", async () => {
  const { stream, old } = await openFaroese();
  putModel({ name: "faroese", version: "2" });
  await until(() => pool.state().models.at(-1)?.version === "2", "the new one serves");
  assert.deepEqual(textsOf(await recognize(pool, [talk], faroese)), sentences);
  rmSync(join(folder, "faroese"), { recursive: true });
  await until(() => names().length === builtin.length, "it no longer serves");
  assert.ok(isAlive(old), "the stream's process still runs");
  stream.resume();
  assert.deepEqual(await stream.texts, sentences);
  await until(() => !isAlive(old), "its process has ended");
  assert.equal(enginePids().length, builtin.length);
});

test("a stream that loses the process of its replaced model continues with the new model", async () => {
  const { stream, old } = await openFaroese();
  putModel({ name: "faroese", version: "2" });
  await until(() => pool.state().models.at(-1)?.version === "2", "the new one serves");
  process.kill(old, "SIGKILL");
  stream.resume();
  assert.deepEqual(await stream.texts, sentences);
  await removeModels();
});

test("a stream that loses the process of its removed model fails immediately", async () => {
  const { stream, old } = await openFaroese();
  await removeModels();
  process.kill(old, "SIGKILL");
  await assert.rejects(stream.texts, { code: "unavailable", reason: "NO_ENGINE" });
});

/** Installs a version in the same way as `hlust models`, through a symbolic link. */
function linkModel(version: string): string {
  const installed = join(folder, ".installed");
  putModel({ name: "faroese", version, withChecksums: false, into: installed });
  const target = join(installed, `faroese-${version}`);
  renameSync(join(installed, "faroese"), target);
  symlinkSync(`.installed/faroese-${version}`, join(folder, ".link"));
  renameSync(join(folder, ".link"), join(folder, "faroese"));
  return target;
}

test("a stream that waits for a process while its model is replaced uses the new model", async () => {
  const before = enginePids();
  const target = linkModel("1");
  await until(() => names().length === 3, "it is loaded");
  // The old version cannot be loaded again.
  truncateSync(join(target, "model.onnx"), 100);
  for (const pid of enginePids()) if (!before.includes(pid)) process.kill(pid, "SIGKILL");
  await until(() => pool.state().models.at(-1)?.ready === 0, "its process has ended");
  linkModel("2");
  assert.deepEqual(
    textsOf(await recognize(pool, [talk], { ...faroese, mode: "short" })),
    sentences,
  );
  await removeModels();
  rmSync(join(folder, ".installed"), { recursive: true });
});

test("a diarization model does not count for readiness", async () => {
  cpSync(join(testModelsFolder, "diarization"), join(folder, ".staged"), { recursive: true });
  renameSync(join(folder, ".staged"), join(folder, "diarization"));
  await until(() => pool.canDiarize(), "it is loaded");
  const { processes, ready, models } = pool.state();
  assert.deepEqual([processes, ready], [2, 2]);
  const found = models.find(({ name }) => name === "diarization");
  assert.deepEqual([found?.ready, found?.streamsMax], [1, 0]);
  await removeModels();
});
