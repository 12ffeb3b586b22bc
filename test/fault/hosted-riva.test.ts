// A model at a server of nvidia.riva.asr whose recognizer is another Hlust, compared with the same
// Hlust asked by its own protocol.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type EnginePool, openEnginePool } from "../../src/engines/pool/engine-pool.ts";
import type { Recognition } from "../../src/engines/protocol/recognizer.ts";
import { createLog } from "../../src/std/log.ts";
import { espeak, joined, silence } from "../fixtures/flite.ts";
import { putHostedModel } from "../fixtures/hosted-model.ts";
import { openRivaServer, type RivaServer } from "../fixtures/open-riva-server.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { startService, type ServiceProcess } from "./process.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-riva-"));
const modelsFolder = join(folder, "models");
const pause = silence(1000);
const sentences = ["góðan daginn", "veðrið er gott í dag", "takk fyrir komuna"];
const talk = joined(pause, ...sentences.flatMap((sentence) => [espeak(sentence), pause]));

let server: ServiceProcess;
let riva: RivaServer;
let pool: EnginePool;

before(async () => {
  server = await startService(join(folder, "server"), { HLUST_VOICE_ACTIVITY: "energy" });
  riva = await openRivaServer(server, "is-IS");
  mkdirSync(modelsFolder);
  const options = { languageCode: "is-IS" };
  const direct = { name: "direct", kind: "google-speech", address: server.address } as const;
  putHostedModel(modelsFolder, { ...direct, languageCode: "fo-FO", options });
  const asked = { name: "riva", kind: "riva-speech", address: `http://${riva.host}` } as const;
  putHostedModel(modelsFolder, { ...asked, languageCode: "nb-NO", options });
  pool = await openEnginePool({
    engine: "auto",
    processes: 1,
    modelsFolder,
    modelKeys: { MODEL_KEY_TEST: server.key },
    voiceActivity: "energy",
    log: createLog("fatal"),
  });
});
after(async () => {
  await pool[Symbol.asyncDispose]();
  await riva[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function* inChunks(): AsyncGenerator<Int16Array> {
  for (let at = 0; at < talk.length; at += 1600) yield talk.subarray(at, at + 1600);
}

async function resultsOf(languageCode: string, mode: "live" | "short" | "job") {
  const options = { languageCode, mode, sampleRateHertz: 16_000, interim: true } as const;
  const results: Recognition[] = [];
  for await (const each of pool.recognize(inChunks(), options)) results.push(each);
  return results;
}

const finalsOf = (results: readonly Recognition[]) =>
  results
    .filter(({ isFinal }) => isFinal)
    .map(({ alternatives: [best] }) => ({
      text: best?.text,
      words: best?.words.map(({ text, startMs, endMs }) => ({ text, startMs, endMs })),
    }));

describe("a model at a server of Riva", () => {
  for (const mode of ["live", "short", "job"] as const) {
    test(`gives the words and times of its recognizer (${mode})`, async () => {
      const before = riva.calls.length;
      const [direct, through] = [await resultsOf("fo-FO", mode), await resultsOf("nb-NO", mode)];
      const finals = finalsOf(through);
      assert.deepEqual(finals, finalsOf(direct));
      const texts = finals.map(({ text = "" }) => text.toLowerCase().replaceAll(".", ""));
      assert.deepEqual(texts, sentences);
      assert.equal(finals.flatMap(({ words = [] }) => words).length, 10);
      const methods = riva.calls.slice(before).map(({ method }) => method);
      const method = mode === "live" ? "StreamingRecognize" : "Recognize";
      assert.deepEqual(methods, [method, method, method]);
      if (mode === "live") {
        // The audio was sent while it was spoken.
        assert.ok(
          riva.calls.every((call) => call.method === "Recognize" || call.audioMessages > 2),
        );
      }
      // The other has confidences; those of Riva are not probabilities.
      for (const { isFinal, alternatives } of through.filter(({ isFinal }) => isFinal)) {
        assert.ok(isFinal);
        const known = alternatives.flatMap(({ confidence, words }) => [
          confidence,
          ...words.map((word) => word.confidence),
        ]);
        assert.deepEqual(
          known.filter((each) => each !== undefined),
          [],
        );
      }
    });
  }

  test("a language that Riva has no model for is named by hlust models add", async () => {
    const path = putHostedModel(join(folder, "own"), {
      name: "no-such-language",
      kind: "riva-speech",
      address: `http://${riva.host}`,
      languageCode: "de-DE",
    });
    const environment = {
      HLUST_DATA: join(folder, "data"),
      HLUST_MODELS: join(folder, "installed"),
      MODEL_KEY_TEST: "any",
    };
    const { code, errors } = await runHlust(["models", "add", path], environment);
    assert.equal(code, 1);
    assert.match(errors, /Unavailable model requested.*language_code=de-DE/);
  });
});
