import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { sherpaCard } from "../../../test/fixtures/sherpa-models.ts";
import type { ModelCard, ModelKind } from "../../models/model-card.ts";
import { recognizerPlan } from "./recognizer-config.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-sherpa-"));
after(() => {
  rmSync(folder, { recursive: true });
});

/**
 * The library names a missing file on standard error, which can be captured only from another
 * process.
 */
const program = `
  const library = require("sherpa-onnx-node/addon.js");
  const [isStreaming, config] = JSON.parse(process.argv[1]);
  try {
    if (isStreaming) library.createOnlineRecognizer(config);
    else library.createOfflineRecognizer(config);
  } catch (error) {
    console.log(error.message);
  }`;

async function complaintOf(card: ModelCard): Promise<{ stdout: string; stderr: string }> {
  const { isStreaming, config } = recognizerPlan(card, folder);
  const run = ["-e", program, JSON.stringify([isStreaming, config])];
  return promisify(execFile)(process.execPath, run, { cwd: import.meta.dirname });
}

/** Every kind with its files, in the order in which the library looks for them. */
const kinds: readonly [ModelKind, ...roles: string[]][] = [
  ["streaming-transducer", "encoder", "decoder", "joiner", "tokens"],
  ["streaming-nemo-ctc", "model", "tokens"],
  ["streaming-zipformer2-ctc", "model", "tokens"],
  ["streaming-paraformer", "encoder", "decoder", "tokens"],
  ["streaming-t-one-ctc", "model", "tokens"],
  ["transducer", "encoder", "decoder", "joiner", "tokens"],
  ["nemo-transducer", "encoder", "decoder", "joiner", "tokens"],
  ["whisper", "encoder", "decoder", "tokens"],
  ["moonshine", "preprocessor", "encoder", "uncachedDecoder", "cachedDecoder", "tokens"],
  ["moonshine", "encoder", "mergedDecoder", "tokens"],
  ["sense-voice", "model", "tokens"],
  ["paraformer", "model", "tokens"],
  ["omnilingual-ctc", "model", "tokens"],
  ["nemo-ctc", "model", "tokens"],
  ["zipformer-ctc", "model", "tokens"],
  ["wenet-ctc", "model", "tokens"],
];

test("the library reads every file of every kind from the path in the card", async () => {
  for (const [kind, ...roles] of kinds) {
    for (const missing of roles) {
      const files = Object.fromEntries(
        roles.map((role) => [role, { path: role === missing ? `no ${role}` : "there" }]),
      );
      writeFileSync(join(folder, "there"), "");
      const { stdout, stderr } = await complaintOf(sherpaCard({ kind, files }));
      assert.equal(stdout, "Please check your config!\n", `${kind}, ${missing}`);
      assert.ok(stderr.includes(join(folder, `no ${missing}`)), `${kind}, ${missing}: ${stderr}`);
    }
  }
});
