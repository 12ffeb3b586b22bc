import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sha256Of, testCard, writeModel } from "../../../test/fixtures/model-fixture.ts";
import { failureReport, withoutPaths } from "./failure-report.ts";

test("a report has versions, the machine, the model with its files, and the error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-report-"));
  try {
    const files = {
      model: { path: "model.onnx", sha256: "0".repeat(64) },
      tokens: { path: "sub/tokens.txt" },
      lexicon: { path: "words.txt" },
    };
    const card = testCard("mine", { files, options: { threads: 2 } });
    writeModel(folder, card);
    const error = new Error(`${folder}/model.onnx cannot be loaded`, {
      cause: new TypeError("ENOENT, open '/home/anna/secret/words.txt'"),
    });
    const report = await failureReport({ card, folder }, error);
    assert.match(report, /^hlust \d+\.\d+\.\d+, Node \d+\.\d+\.\d+, linux /);
    assert.match(report, /^sherpa-onnx-node \d+\.\d+\.\d+$/m);
    assert.match(report, /^onnxruntime-node \d+\.\d+\.\d+$/m);
    assert.match(report, /^machine: \d+ cores, .+ of memory, .+ free$/m);
    assert.match(report, /^instructions: \w+/m);
    assert.match(report, /^model: mine 1, ctc\/zipformer-ctc, en-US, short,job$/m);
    assert.match(report, /^options: \{"threads":2\}$/m);
    const lines = [
      `model: model.onnx, 7 bytes, SHA-256 ${sha256Of("weights")}, but model.json says ${"0".repeat(64)}`,
      `tokens: sub/tokens.txt, 4 bytes, SHA-256 ${sha256Of("a 1\n")}`,
      "lexicon: words.txt cannot be read: ENOENT",
    ];
    for (const line of lines) assert.ok(report.includes(`\n  ${line}\n`), line);
    const digest = createHash("sha256").update(lines.toSorted().join("\n")).digest("hex");
    assert.match(report, new RegExp(`^digest: ${digest}$`, "m"));
    assert.match(report, /^error: Error: …\/model\.onnx cannot be loaded$/m);
    assert.match(report, /^cause: TypeError: ENOENT, open '…\/words\.txt'$/m);
    assert.doesNotMatch(report, /anna|hlust-report/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("paths and addresses are shown with their last part alone", () => {
  const rows: readonly [text: string, shown: string][] = [
    ["open '/home/anna/models/x.onnx': EACCES", "open '…/x.onnx': EACCES"],
    ["/x.onnx", "…/x.onnx"],
    ["~/models/x.onnx is missing", "…/x.onnx is missing"],
    ["https://anna:pass@host/a/b.tar.bz2?sig=abc is gone", "…/b.tar.bz2 is gone"],
    ["file:///home/anna/x.ts:3:4", "…/x.ts:3:4"],
    ["sub/tokens.txt: line 2", "sub/tokens.txt: line 2"],
    ["a and/or b", "a and/or b"],
  ];
  assert.equal(withoutPaths("open /srv/Anna B/x.onnx", "/srv/Anna B"), "open …/x.onnx");
  for (const [text, shown] of rows) assert.equal(withoutPaths(text), shown);
});
