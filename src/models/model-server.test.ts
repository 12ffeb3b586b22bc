import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseCatalogue } from "./catalogue.ts";
import { parseModelCard } from "./model-card.ts";

const card = {
  name: "elsewhere",
  version: "1",
  languageCodes: ["is-IS"],
  engine: "hosted",
  kind: "openai-transcriptions",
  server: { address: "http://10.0.0.8:8000/v1", keyVariable: "MODEL_KEY_WHISPER" },
};
const server = (changes: object) => ({ server: { ...card.server, ...changes } });

describe("the model.json of a hosted model", () => {
  test("has a server in place of files, and is for every use by default", () => {
    const read = parseModelCard(JSON.stringify(card));
    assert.deepEqual(read.server, card.server);
    assert.deepEqual(read.uses, ["live", "short", "job"]);
    assert.deepEqual([read.files, read.sampleRateHertz], [{}, 16_000]);
    // `models add` writes the card that it has read.
    assert.deepEqual(parseModelCard(JSON.stringify(read)), read);
  });

  const rows: [what: string, changes: object, problem: RegExp][] = [
    ["no server", { server: undefined }, /server must be a JSON object/],
    ["files", { files: { model: { path: "a.onnx" } } }, /files must be absent/],
    [
      "an address that is not a URL",
      server({ address: "10.0.0.8" }),
      /must be a URL with http:\/\//,
    ],
    ["another protocol", server({ address: "file:///etc/passwd" }), /http:\/\/ or https:\/\//],
    ["http for vosk-server", { kind: "vosk-server" }, /ws:\/\/ or wss:\/\//],
    ["a password", server({ address: "http://a:b@10.0.0.8" }), /must have no user, password/],
    ["a key in the query", server({ address: "http://10.0.0.8/?key=x" }), /query or fragment/],
    ["another variable", server({ keyVariable: "DATABASE_URL" }), /server\.keyVariable must be/],
    [
      "a key file and a variable",
      server({ keyFile: "/key" }),
      /must be absent if there is a keyFile/,
    ],
    [
      "a key file without root",
      server({ keyFile: "key", keyVariable: undefined }),
      /keyFile must be/,
    ],
    ["another engine", { engine: "ctc", kind: "zipformer-ctc" }, /server needs the engine hosted/],
  ];
  for (const [what, changes, problem] of rows) {
    test(`is refused with ${what}`, () => {
      assert.throws(() => parseModelCard(JSON.stringify({ ...card, ...changes })), problem);
    });
  }

  test("is never in a catalogue, whose author would choose the address", () => {
    const downloads = [{ url: "https://example.is/a", to: "a" }];
    const text = JSON.stringify({ models: [{ ...card, downloads }] });
    assert.throws(() => parseCatalogue(text), /is a hosted model, which is not pulled/);
  });
});
