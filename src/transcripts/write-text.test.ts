import assert from "node:assert/strict";
import { test } from "node:test";
import type { FileOptions } from "./document/paragraphs.ts";
import { writeText } from "./write-text.ts";

test("writeText() writes a paragraph for each turn, or for each segment without a known speaker", () => {
  const segment = (speakerId: string, ...texts: string[]) => ({
    startMs: 0,
    endMs: 0,
    speakerId,
    words: texts.map((text) => ({ text, startMs: 0, endMs: 0 })),
  });
  const nameOf = (id: string) => (id === "a" ? "Anna\nB" : id);
  const rows: [segments: ReturnType<typeof segment>[], text: string][] = [
    [[], ""],
    [[segment("", " \n")], ""],
    [[segment("", "Góðan ", "dag. "), segment("", "Jæja.\n")], "Góðan dag.\n\nJæja.\n"],
    [
      [segment("a", "Já. "), segment("a", "Og nú"), segment("b", "Nei"), segment("a", "Jú")],
      "Anna B: Já. Og nú\n\nb: Nei\n\nAnna B: Jú\n",
    ],
  ];
  const options = { speakers: true, times: false, intervalSeconds: 0, title: false };
  for (const [segments, text] of rows) {
    assert.equal(writeText(segments, nameOf, { title: "T", options }), text);
  }
});

test("writeText() shows speakers, times and the title as the options say", () => {
  const words = (startMs: number, ...texts: string[]) =>
    texts.map((text, at) => ({ text, startMs: startMs + at * 4000, endMs: startMs }));
  const segments = [
    { startMs: 0, endMs: 0, speakerId: "a", words: words(3_600_999, "Eitt ", "tvö", " ", "þrjú.") },
    { startMs: 0, endMs: 0, speakerId: "a", words: words(3_620_000, "Fjögur.") },
    { startMs: 0, endMs: 0, speakerId: "", words: words(3_700_000, "", "Fimm.") },
  ];
  const rows: [options: Partial<FileOptions>, text: string][] = [
    [{}, "a: Eitt tvö þrjú. Fjögur.\n\nFimm.\n"],
    [{ speakers: false }, "Eitt tvö þrjú. Fjögur.\n\nFimm.\n"],
    [{ times: true }, "[01:00:00] a: Eitt tvö þrjú. Fjögur.\n\n[01:01:44] Fimm.\n"],
    [
      { times: true, intervalSeconds: 12 },
      "[01:00:00] a: Eitt tvö [01:00:12] þrjú. Fjögur.\n\n[01:01:44] Fimm.\n",
    ],
    [{ title: true }, "Fundur\n\na: Eitt tvö þrjú. Fjögur.\n\nFimm.\n"],
  ];
  for (const [chosen, text] of rows) {
    const options = { speakers: true, times: false, intervalSeconds: 0, title: false, ...chosen };
    assert.equal(
      writeText(segments, (id) => id, { title: "Fundur", options }),
      text,
    );
  }
  const options = { speakers: true, times: false, intervalSeconds: 0, title: true };
  assert.equal(
    writeText([], (id) => id, { title: "", options }),
    "",
  );
});
