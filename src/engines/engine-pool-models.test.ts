// Models that come, change, go and are broken while the pool serves.
import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { enginePids, isAlive, recognise, until } from "../../test/engine-pool-fixture.ts";
import { espeak, joined, silence } from "../../test/flite.ts";
import { testModelsFolder } from "../../test/sherpa-models.ts";
import { type EnginePool, openEnginePool } from "./engine-pool.ts";
import { builtinModelsFolder } from "./models/models-folder.ts";
import type { Recognition } from "./recognizer.ts";

const starter = join(builtinModelsFolder, "is-IS-starter");
const sentences = ["góðan daginn", "veðrið er gott í dag", "takk fyrir komuna"];
/** Two models are there without any that is installed. */
const builtin = ["is-IS-starter", "pocketsphinx-en-US"];
let talk: Int16Array;
let folder: string;
let logged: Record<string, unknown>[] = [];
let pool: EnginePool;

const log = pino(
  { base: null, messageKey: "event" },
  { write: (line: string) => void logged.push(JSON.parse(line)) },
);
const names = () => pool.state().models.map(({ name }) => name);
const reasonOf = (model: string) =>
  logged.find((line) => line["event"] === "model.refused" && line["model"] === model)?.["reason"];

before(async () => {
  const pause = silence(1000);
  talk = joined(pause, ...sentences.flatMap((sentence) => [espeak(sentence), pause]));
  folder = mkdtempSync(join(tmpdir(), "hlust-models-"));
  pool = await openEnginePool({ engine: "auto", processes: 1, modelsFolder: folder, log });
});
after(async () => {
  await pool[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  logged = [];
});

interface Copy {
  readonly name: string;
  readonly version?: string;
  /** Changes the files before anybody sees them. */
  readonly change?: (folder: string) => void;
  readonly withChecksums?: boolean;
  /** In place of the folder of the pool. */
  readonly into?: string;
}

/** Puts a copy of the starter model there under another name, for Faroese; in place of what is there. */
function putModel({
  name,
  version = "1",
  change,
  withChecksums = true,
  into = folder,
}: Copy): void {
  const staged = join(into, `.staged-${name}`);
  cpSync(starter, staged, { recursive: true });
  const card = JSON.parse(readFileSync(join(staged, "model.json"), "utf8"));
  Object.assign(card, { name, version, languageCodes: ["fo-FO"], preference: 1 });
  for (const file of Object.values<Record<string, unknown>>(card.files)) {
    if (withChecksums) continue;
    delete file["sha256"];
    delete file["bytes"];
  }
  writeFileSync(join(staged, "model.json"), JSON.stringify(card));
  change?.(staged);
  rmSync(join(into, name), { recursive: true, force: true });
  renameSync(staged, join(into, name));
}

async function removeModels(): Promise<void> {
  for (const name of names()) rmSync(join(folder, name), { recursive: true, force: true });
  await until(() => names().length === builtin.length, "the installed ones are gone");
}

const faroese = { languageCode: "fo-FO", mode: "live" } as const;
const textsOf = (finals: readonly Recognition[]) =>
  finals.map(({ alternatives }) => alternatives[0]?.text);

/** A stream that is sent up to its second pause, and goes on when it is told to. */
function openTalk() {
  const goOn = Promise.withResolvers<void>();
  async function* input(): AsyncGenerator<Int16Array> {
    const half = talk.length >> 1;
    yield talk.subarray(0, half);
    await goOn.promise;
    yield talk.subarray(half);
  }
  const finals: Recognition[] = [];
  const run = async () => {
    const options = { ...faroese, sampleRateHertz: 16_000 };
    for await (const final of pool.recognize(input(), options)) finals.push(final);
    return textsOf(finals);
  };
  return { finals, goOn: () => goOn.resolve(), heard: run() };
}

test("a model that is installed while the pool serves is heard with; the others go on", async () => {
  assert.deepEqual(pool.languageCodes("live"), ["en-US", "is-IS"]);
  assert.equal(pool.takesHints("is-IS", "live"), true);
  assert.equal(pool.takesHints("en-US", "live"), false);
  assert.equal(pool.takesHints("fo-FO", "live"), false);
  putModel({ name: "faroese" });
  await until(() => pool.languageCodes("live").includes("fo-FO"), "it is loaded");
  assert.deepEqual(names(), [...builtin, "faroese"]);
  assert.deepEqual(textsOf(await recognise(pool, [talk], faroese)), sentences);
  const last = logged.at(-1) ?? {};
  assert.deepEqual(
    ["event", "model", "version"].map((field) => last[field]),
    ["model.loaded", "faroese", "1"],
  );
  await removeModels();
  assert.deepEqual(pool.languageCodes("live"), ["en-US", "is-IS"]);
});

/** A model is installed, and a stream is being heard by it: in this process, the only one that is new. */
async function openFaroese() {
  const before = new Set(enginePids());
  putModel({ name: "faroese" });
  await until(() => names().length === builtin.length + 1, "it is loaded");
  const [old, more] = enginePids().filter((pid) => !before.has(pid));
  assert.ok(old !== undefined && more === undefined, "it has one process");
  const stream = openTalk();
  await until(() => stream.finals.length > 0, "it is being heard");
  return { stream, old };
}

test("a model that is replaced or removed hurts no open stream, and its process goes after the last", async () => {
  const { stream, old } = await openFaroese();
  putModel({ name: "faroese", version: "2" });
  await until(() => pool.state().models.at(-1)?.version === "2", "the new one serves");
  assert.deepEqual(textsOf(await recognise(pool, [talk], faroese)), sentences);
  rmSync(join(folder, "faroese"), { recursive: true });
  await until(() => names().length === builtin.length, "it serves no more");
  assert.ok(isAlive(old), "the stream's process is there");
  stream.goOn();
  assert.deepEqual(await stream.heard, sentences);
  await until(() => !isAlive(old), "it is not needed any more");
  assert.equal(enginePids().length, builtin.length);
});

test("a stream whose replaced model loses its process goes on with the new one", async () => {
  const { stream, old } = await openFaroese();
  putModel({ name: "faroese", version: "2" });
  await until(() => pool.state().models.at(-1)?.version === "2", "the new one serves");
  process.kill(old, "SIGKILL");
  stream.goOn();
  assert.deepEqual(await stream.heard, sentences);
  await removeModels();
});

test("a stream whose removed model loses its process is told so at once", async () => {
  const { stream, old } = await openFaroese();
  await removeModels();
  process.kill(old, "SIGKILL");
  await assert.rejects(stream.heard, { code: "unavailable", reason: "NO_ENGINE" });
});

/** Installs a version as `hlust models` does: a link leads to it. */
function linkModel(version: string): string {
  const installed = join(folder, ".installed");
  putModel({ name: "faroese", version, withChecksums: false, into: installed });
  const target = join(installed, `faroese-${version}`);
  renameSync(join(installed, "faroese"), target);
  symlinkSync(`.installed/faroese-${version}`, join(folder, ".link"));
  renameSync(join(folder, ".link"), join(folder, "faroese"));
  return target;
}

test("a stream that waits for a process of a model that is replaced meanwhile is heard with the new one", async () => {
  const before = enginePids();
  const target = linkModel("1");
  await until(() => names().length === 3, "it is loaded");
  // It does not come back.
  truncateSync(join(target, "model.onnx"), 100);
  for (const pid of enginePids()) if (!before.includes(pid)) process.kill(pid, "SIGKILL");
  await until(() => pool.state().models.at(-1)?.ready === 0, "its process has gone");
  linkModel("2");
  assert.deepEqual(
    textsOf(await recognise(pool, [talk], { ...faroese, mode: "short" })),
    sentences,
  );
  await removeModels();
  rmSync(join(folder, ".installed"), { recursive: true });
});

test("one that tells speakers apart does not count as one that hears: the service is not ready by it", async () => {
  cpSync(join(testModelsFolder, "diarization"), join(folder, ".staged"), { recursive: true });
  renameSync(join(folder, ".staged"), join(folder, "diarization"));
  await until(() => pool.tellsSpeakers(), "it is loaded");
  const { processes, ready, models } = pool.state();
  assert.deepEqual([processes, ready], [2, 2]);
  const found = models.find(({ name }) => name === "diarization");
  assert.deepEqual([found?.ready, found?.streamsMax], [1, 0]);
  await removeModels();
});

/** What can be wrong with a file, and how its refusal says so. */
const damages: Record<string, { readonly spoil: (path: string) => void; readonly says: RegExp }> = {
  missing: { spoil: (path) => rmSync(path), says: /is missing|is no file/ },
  empty: { spoil: (path) => truncateSync(path, 0), says: /is empty|has 0 bytes/ },
  "cut off": {
    spoil: (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
    says: /cut off|has \d+ bytes|tokens/,
  },
  altered: {
    spoil(path) {
      const bytes = readFileSync(path);
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0x55;
      writeFileSync(path, bytes);
    },
    says: /is another file: its SHA-256/,
  },
  "of another kind": {
    spoil: (path) => writeFileSync(path, Buffer.alloc(5000, "GIF89a\0")),
    says: /is no ONNX model|line 1|has \d+ bytes/,
  },
};

test("every file of a model that is damaged in whatever way is refused by name, and all else works", async () => {
  const files = ["model.onnx", "tokens.txt", "words.txt"];
  const rows = Object.entries(damages).flatMap(([damage, { spoil, says }], index) =>
    files.flatMap((file) =>
      [true, false].map((withChecksums) => {
        const name = `fo-${file.replace(".", "-")}-${index}-${withChecksums ? "known" : "unknown"}`;
        return { name, damage, file, spoil, says, withChecksums };
      }),
    ),
  );
  // Without a checksum nobody can tell one weight or word from another.
  const found = rows.filter(
    ({ damage, file, withChecksums }) =>
      withChecksums || (damage !== "altered" && !(damage === "cut off" && file === "words.txt")),
  );
  for (const { name, file, spoil, withChecksums } of found) {
    putModel({ name, withChecksums, change: (model) => spoil(join(model, file)) });
  }
  const heard = recognise(pool, [talk], { languageCode: "is-IS", mode: "live" });
  const left = () => found.filter(({ name }) => reasonOf(name) === undefined);
  const leftNames = () =>
    `refused are not ${left()
      .map(({ name }) => name)
      .join()}`;
  // Each takes the start of a process.
  await until(() => left().length === 0, leftNames, 90_000);
  for (const { name, file, damage, says } of found) {
    const reason = String(reasonOf(name));
    assert.ok(reason.includes(file), `${file}, ${damage}: ${reason}`);
    assert.match(reason, says, `${file}, ${damage}`);
  }
  assert.deepEqual(textsOf(await heard), sentences);
  assert.deepEqual(names(), builtin);
  assert.deepEqual(pool.languageCodes("job"), ["en-US", "is-IS"]);
  // What was refused is not tried again and again.
  const count = logged.length;
  await delay(2500);
  assert.equal(logged.length, count);
  for (const { name } of found) rmSync(join(folder, name), { recursive: true });
});

test("a model whose card cannot be read is refused by its folder, one of another kind by its layout", async () => {
  putModel({
    name: "no-card",
    change: (model) => writeFileSync(join(model, "model.json"), "{"),
  });
  putModel({
    name: "whole",
    change(model) {
      const card = JSON.parse(readFileSync(join(model, "model.json"), "utf8"));
      writeFileSync(join(model, "model.json"), JSON.stringify({ ...card, kind: "zipformer-ctc" }));
    },
  });
  mkdirSync(join(folder, "empty"));
  await until(() => reasonOf("whole") !== undefined, "it is refused");
  assert.match(String(reasonOf("whole")), /^model\.onnx: is .*no zipformer-ctc/);
  const refused = logged.filter((line) => line["event"] === "model.refused");
  assert.equal(refused.length, 3);
  assert.match(String(reasonOf("no-card")), /model\.json: .*JSON/);
  assert.match(String(reasonOf("empty")), /no file model\.json/);
  // Mended, it is taken.
  putModel({ name: "whole" });
  rmSync(join(folder, "empty"), { recursive: true });
  await until(() => names().includes("whole"), "it is loaded");
  // Broken again, it is told again.
  logged = [];
  mkdirSync(join(folder, "empty"));
  await until(() => reasonOf("empty") !== undefined, "it is refused again");
  assert.equal(logged.length, 1);
  for (const name of ["no-card", "whole", "empty"]) {
    rmSync(join(folder, name), { recursive: true });
  }
  await until(() => names().length === builtin.length, "it is gone");
});

test("openEnginePool() serves with the models that can be loaded, and says which choices cannot be met", async () => {
  putModel({ name: "broken", change: (model) => rmSync(join(model, "model.onnx")) });
  const choice = [
    { languageCode: "is-IS", use: undefined, model: "broken" },
    { languageCode: "en-US", use: "job", model: "is-IS-starter" },
  ] as const;
  await using own = await openEnginePool({
    engine: "auto",
    processes: 1,
    modelsFolder: folder,
    choice,
    log,
  });
  assert.deepEqual(own.languageCodes("live"), ["en-US", "is-IS"]);
  const problems = logged
    .filter((line) => line["event"] === "model.choice_unmet")
    .map((line) => line["problem"]);
  assert.deepEqual(problems, ["broken is not installed", "is-IS-starter does not hear en-US"]);
  assert.match(String(reasonOf("broken")), /model\.onnx is no file/);
  rmSync(join(folder, "broken"), { recursive: true });
});

test("opening that is given up leaves no process, also of models whose turn to load had not come", async () => {
  const copies = Array.from({ length: availableParallelism() }, (_, index) => `late-${index}`);
  const others = enginePids();
  const staged = mkdtempSync(join(tmpdir(), "hlust-models-"));
  for (const name of copies) putModel({ name, into: staged });
  const giveUp = new AbortController();
  const opening = openEnginePool({
    engine: "auto",
    processes: 1,
    modelsFolder: staged,
    log,
    signal: giveUp.signal,
  });
  await until(() => enginePids().length > others.length, "the first are loading");
  giveUp.abort(new Error("given up"));
  await assert.rejects(opening, /given up/);
  assert.deepEqual(enginePids(), others);
  rmSync(staged, { recursive: true });
});
