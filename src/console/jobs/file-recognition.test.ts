import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelJson } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { recognitionOfFile, toLanguage, withoutFile } from "./file-recognition.ts";
import { type DraftFile, emptyDraft, type ReadyDraft } from "./job-draft.ts";

const model = (name: string, languageCodes: string[], takesHints: boolean): ModelJson => ({
  name,
  languageCodes,
  uses: ["JOB"],
  takesHints,
});
const models = [
  model("talar", ["is-IS"], true),
  model("speaks", ["en-US"], true),
  model("both", ["is-IS", "en-US"], true),
  model("deaf", ["fo-FO"], false),
];
const draftFile = (id: string, languageCode?: string): DraftFile => ({
  id,
  file: new File(["a"], `${id}.wav`),
  subject: id,
  ...(languageCode !== undefined && { languageCode }),
});
const files = [draftFile("a"), draftFile("b", "en-US"), draftFile("c", "fo-FO")];
const [a, b, c] = files;
assert.ok(a && b && c);

function ready(modelName: string, words: string, hasOwnWords = true): ReadyDraft {
  const recognition = { model: modelName, speakers: "AUTO" };
  const more = { isWritten: true, recognition, words, hasOwnWords, models };
  return { ...emptyDraft, files, languageCode: "is-IS", ...more };
}

test("a file in another language keeps what its language has, and says what it does not", () => {
  const rows: [draft: ReadyDraft, file: DraftFile, model: string, words: string, unused: string][] =
    [
      [ready("talar", "Þjórsá"), a, "talar", "Þjórsá", ""],
      [ready("talar", "Þjórsá"), b, "", "Þjórsá", "MODEL"],
      [ready("both", "Þjórsá"), b, "both", "Þjórsá", ""],
      [ready("both", "Þjórsá", false), b, "both", "", "WORDS"],
      [ready("talar", "Þjórsá"), c, "", "", "MODEL,WORDS_NOT_TAKEN"],
      [ready("talar", "Þjórsá", false), c, "", "", "MODEL,WORDS_NOT_TAKEN"],
      [ready("", ""), c, "", "", ""],
    ];
  for (const [draft, file, name, words, unused] of rows) {
    const found = recognitionOfFile(draft, file);
    const place = `${draft.recognition.model} ${file.id}`;
    assert.deepEqual([found.model, found.words, found.unused.join()], [name, words, unused], place);
  }
});

test("the language of the last file becomes that of the draft, with a model that serves it", () => {
  const drafted = { ...emptyDraft, files: [a, b], languageCode: "is-IS" };
  const chosen = (name: string) => ({ ...drafted, recognition: { model: name, speakers: "2" } });
  assert.deepEqual(withoutFile(drafted, models, "b"), { files: [a] });
  assert.deepEqual(withoutFile({ ...drafted, files }, models, "a"), { files: [b, c] });
  for (const [name, kept] of [
    ["talar", ""],
    ["both", "both"],
  ] as const) {
    const changes = withoutFile(chosen(name), models, "a");
    const { files: left, languageCode, hasFileLanguage, recognition } = changes;
    assert.deepEqual([languageCode, recognition], ["en-US", { model: kept, speakers: "2" }]);
    assert.equal(hasFileLanguage, true);
    const later = { ...chosen(name), ...changes };
    assert.equal(toLanguage(later, models, "is-IS").hasFileLanguage, false);
    assert.deepEqual(
      left?.map((each) => each.languageCode),
      [undefined],
    );
  }
});
