import assert from "node:assert/strict";
import { test } from "node:test";
import { modelsOf } from "./announce-node.ts";

test("modelsOf() distinguishes a model whose server is absent from one that is being loaded", () => {
  const model = {
    name: "whisper",
    version: "1",
    languageCodes: ["is-IS"],
    processes: 1,
    ready: 0,
    loading: false,
    sessions: 0,
    streamsMax: 0,
  };
  const pool = { processes: 1, ready: 0, sessions: 0, load: 0, refused: [] };
  const rows = [
    [{ ready: 1 }, "SERVING"],
    [{}, "LOADING"],
    [{ absent: "UNREACHABLE" }, "SERVER_UNREACHABLE"],
    [{ absent: "BUSY" }, "SERVER_BUSY"],
    [{ absent: "DENIED" }, "SERVER_DENIED"],
  ] as const;
  for (const [change, expected] of rows) {
    const [found] = modelsOf({ ...pool, models: [{ ...model, ...change }] });
    assert.equal(found?.state, expected);
    assert.ok(!("absent" in (found ?? {})), "the reason is in the log");
  }
});
