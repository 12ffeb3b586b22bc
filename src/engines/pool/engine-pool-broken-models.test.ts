// Tests broken models, and choices that no model meets.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { enginePids, recognize, until } from "../../../test/fixtures/engine-pool-fixture.ts";
import {
  builtin,
  openModelPool,
  sentences,
  textsOf,
} from "../../../test/fixtures/open-model-pool.ts";
import { openEnginePool } from "./engine-pool.ts";

const models = await openModelPool();
after(async () => {
  await models[Symbol.asyncDispose]();
});
beforeEach(() => {
  models.logged.length = 0;
});
const { pool, folder, talk, log, logged, names, reasonOf, putModel } = models;

/** The types of damage to a file, and the reason for the refusal in each case. */
const damages: Record<string, { readonly spoil: (path: string) => void; readonly says: RegExp }> = {
  missing: { spoil: (path) => rmSync(path), says: /is missing|is not a file/ },
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
    says: /is not an ONNX model|line 1|has \d+ bytes/,
  },
};

test("a model with a damaged file is refused with the name of the file, and the other models still serve", async () => {
  const files = ["model.onnx", "tokens.txt", "words.txt"];
  const rows = Object.entries(damages).flatMap(([damage, { spoil, says }], index) =>
    files.flatMap((file) =>
      [true, false].map((withChecksums) => {
        const name = `fo-${file.replace(".", "-")}-${index}-${withChecksums ? "known" : "unknown"}`;
        return { name, damage, file, spoil, says, withChecksums };
      }),
    ),
  );
  // Without a checksum, some types of damage cannot be detected.
  const found = rows.filter(
    ({ damage, file, withChecksums }) =>
      withChecksums || (damage !== "altered" && !(damage === "cut off" && file === "words.txt")),
  );
  for (const { name, file, spoil, withChecksums } of found) {
    putModel({ name, withChecksums, change: (model) => spoil(join(model, file)) });
  }
  const running = recognize(pool, [talk], { languageCode: "is-IS", mode: "live" });
  const left = () => found.filter(({ name }) => reasonOf(name) === undefined);
  const leftNames = () =>
    `not refused: ${left()
      .map(({ name }) => name)
      .join()}`;
  // A process is started for each of these models.
  await until(() => left().length === 0, leftNames, 90_000);
  for (const { name, file, damage, says } of found) {
    const reason = String(reasonOf(name));
    assert.ok(reason.includes(file), `${file}, ${damage}: ${reason}`);
    assert.match(reason, says, `${file}, ${damage}`);
  }
  assert.deepEqual(textsOf(await running), sentences);
  assert.deepEqual(names(), builtin);
  assert.deepEqual(pool.languageCodes("job"), ["en-US", "is-IS"]);
  // A refused model is not loaded again.
  const count = logged.length;
  await delay(2500);
  assert.equal(logged.length, count);
  for (const { name } of found) rmSync(join(folder, name), { recursive: true });
});

test("a model with an unreadable card is refused under its folder's name, and a model of the wrong kind because of its layout", async () => {
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
  assert.match(String(reasonOf("whole")), /^model\.onnx: is .*, not zipformer-ctc/);
  const refused = logged.filter((line) => line["event"] === "model.refused");
  assert.equal(refused.length, 3);
  assert.match(String(reasonOf("no-card")), /model\.json: .*JSON/);
  assert.match(String(reasonOf("empty")), /no file model\.json/);
  // After it is repaired, the model is loaded.
  putModel({ name: "whole" });
  rmSync(join(folder, "empty"), { recursive: true });
  await until(() => names().includes("whole"), "it is loaded");
  // If the model is broken again, the refusal is logged again.
  logged.length = 0;
  mkdirSync(join(folder, "empty"));
  await until(() => reasonOf("empty") !== undefined, "it is refused again");
  assert.equal(logged.length, 1);
  for (const name of ["no-card", "whole", "empty"]) {
    rmSync(join(folder, name), { recursive: true });
  }
  await until(() => names().length === builtin.length, "it is removed");
});

test("openEnginePool() serves with the models that can be loaded, and logs unmet choices", async () => {
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
  assert.deepEqual(problems, ["broken is not installed", "is-IS-starter does not recognize en-US"]);
  assert.match(String(reasonOf("broken")), /model\.onnx is not a file/);
  rmSync(join(folder, "broken"), { recursive: true });
});

test("an aborted openEnginePool() leaves no process running, not even of models that were to be loaded later", async () => {
  const copies = Array.from({ length: availableParallelism() }, (_, index) => `late-${index}`);
  const others = enginePids();
  const staged = mkdtempSync(join(tmpdir(), "hlust-models-"));
  for (const name of copies) putModel({ name, into: staged });
  const stopping = new AbortController();
  const opening = openEnginePool({
    engine: "auto",
    processes: 1,
    modelsFolder: staged,
    log,
    signal: stopping.signal,
  });
  await until(() => enginePids().length > others.length, "the first are loading");
  stopping.abort(new Error("stop"));
  await assert.rejects(opening, /stop/);
  assert.deepEqual(enginePids(), others);
  rmSync(staged, { recursive: true });
});
