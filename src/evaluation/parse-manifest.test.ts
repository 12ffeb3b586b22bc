import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/fixtures/property-runs.ts";
import { parseManifest } from "./parse-manifest.ts";

test("parseManifest() reads TSV with and without a header, and JSONL", () => {
  const row = { recording: "a.wav", text: "Góðan dag", language: "is-IS" };
  const rows: [text: string, line: number][] = [
    ["a.wav\tGóðan dag\tis-IS\n", 1],
    ["\uFEFFrecording\ttext\tlanguage\r\na.wav\tGóðan dag\tis-IS\r\n\r\n", 2],
    ["recording\tlanguage\ttext\tmode\na.wav\tis-IS\tGóðan dag\t\n", 2],
    [JSON.stringify(row), 1],
    [`\n  ${JSON.stringify(row)}\n`, 2],
  ];
  for (const [text, line] of rows) {
    assert.deepEqual(parseManifest(text), { rows: [{ line, ...row }], problems: [] }, text);
  }
  const whole = { recording: "b.wav", text: "x", language: "en", model: "m", mode: "live" };
  assert.deepEqual(parseManifest("b.wav\tx\ten\tm\tlive").rows, [{ line: 1, ...whole }]);
  assert.deepEqual(parseManifest(JSON.stringify(whole)).rows, [{ line: 1, ...whole }]);
  const { rows: hinted } = parseManifest(JSON.stringify({ ...whole, hints: "Anna; Will Smith;" }));
  assert.deepEqual(hinted, [{ line: 1, ...whole, hints: ["Anna", "Will Smith"] }]);
});

test("parseManifest() reports what is wrong, with its line", () => {
  const rows: [text: string, ...problems: string[]][] = [
    ["", "line 1: the manifest has no lines: add a recording and its text"],
    ["\n \n", "line 1: the manifest has no lines: add a recording and its text"],
    ["recording\ttext", "line 1: no recordings follow the header: add a line for each"],
    [
      "recording\nx.wav",
      "line 1: has no column text: add the reference texts",
      "line 2: the reference text is empty: write what is said, or remove the line",
    ],
    [
      "recording\ttext\tduration\na\tb\t1\nb\tc\t2",
      'line 1: unknown field "duration": the fields are recording, text, language, model, mode, hints',
    ],
    ["recording\ttext\ttext\na\tb\tc", "line 1: has the column text twice: remove one"],
    [
      "a\tb\ten\tm\tlive\tAnna\tmore",
      "line 1: has 7 columns, but there are 6 (recording, text, language, model, mode, hints): remove the tab",
    ],
    ["\ttext", "line 1: recording is required: the path of a sound file"],
    ["a.wav\t ", "line 1: the reference text is empty: write what is said, or remove the line"],
    ["a.wav", "line 1: the reference text is empty: write what is said, or remove the line"],
    [
      "a.wav\tx\tIcelandic language\nb.wav\ty\t\t\tfast",
      'line 1: language "Icelandic language" is not a language code: write one such as is-IS',
      'line 2: mode "fast" is unknown: write short, live, job',
    ],
    ['{"recording": "a"', "line 1: is not JSON: write one object per line"],
    ['{"recording": "a", "text": "b"}\n[]', "line 2: is not an object: write one object per line"],
    ['{"recording": "a", "text": 5}', "line 1: text is not a text: write it in quotation marks"],
    [
      '{"audio_filepath": "a", "text": "b"}\n{"audio_filepath": "b", "text": ""}',
      'line 1: unknown field "audio_filepath": the fields are recording, text, language, model, mode, hints',
      "line 2: recording is required: the path of a sound file",
      "line 2: the reference text is empty: write what is said, or remove the line",
    ],
    ['{"recording": "a\\u0000", "text": "b"}', "line 1: recording has a null character: remove it"],
  ];
  for (const [text, ...problems] of rows) {
    const found = parseManifest(text).problems.map(({ place, what }) => `${place}: ${what}`);
    assert.deepEqual(found, problems, text);
  }
});

test("parseManifest() returns for any text rows or problems, and never throws", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (manifest) => {
      const { rows, problems } = parseManifest(manifest);
      assert.ok(rows.length + problems.length > 0);
      for (const { recording, text, line } of rows) {
        assert.ok(recording !== "");
        const isReported = problems.some(({ place }) => place === `line ${line}`);
        assert.ok(text.trim() !== "" || isReported);
      }
    }),
    { numRuns: runs(1000) },
  );
});

test("rows survive being written as JSONL", () => {
  const field = fc.string({ unit: "grapheme" }).filter((text) => text.trim() !== "");
  const row = fc.record(
    { recording: field.filter((text) => !text.includes("\0")), text: field },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), (rows) => {
      const text = rows.map((each) => JSON.stringify(each)).join("\n");
      const parsed = parseManifest(text);
      assert.deepEqual(parsed.problems, []);
      assert.deepEqual(
        parsed.rows.map(({ recording, text }) => ({ recording, text })),
        rows,
      );
    }),
    { numRuns: runs(400) },
  );
});
