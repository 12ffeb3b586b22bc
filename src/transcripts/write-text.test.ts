import assert from "node:assert/strict";
import { test } from "node:test";
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
  for (const [segments, text] of rows) assert.equal(writeText(segments, nameOf), text);
});
