import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { englishText } from "../../../test/fixtures/published-models/published-file.ts";
import { otherPublished } from "../../../test/fixtures/published-models/published-models.ts";
import { recognize } from "../../../test/fixtures/sherpa-models.ts";
import { modelKinds } from "../../models/model-card.ts";
import { openCtcEngine } from "./ctc-engine.ts";

test("models of NeMo and icefall with CTC run in the form in which they are published", async () => {
  for (const kind of modelKinds.ctc) {
    const published = otherPublished.find(({ card }) => card.kind === kind);
    assert.ok(published, kind);
    const folder = mkdtempSync(join(tmpdir(), "hlust-published-"));
    try {
      for (const [path, content] of Object.entries(published.files())) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
      const engine = await openCtcEngine({ ...published.card, engine: "ctc", kind }, folder);
      const decoder = engine.createDecoder({ mode: "short", alternativesMax: 1 });
      const sound = Int16Array.from(
        { length: 32_000 },
        (_, at) => 3000 * Math.sin((at * at) / 777),
      );
      const [reading] = await recognize(decoder, sound);
      assert.equal(reading?.text, englishText, kind);
      assert.equal(reading.words.length, 2, kind);
      decoder.close();
      engine.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
});
