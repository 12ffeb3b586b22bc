import assert from "node:assert/strict";
import { test } from "node:test";
import { baseOf, type EditedParagraph } from "./base.ts";
import { recognized } from "./recognized.ts";

const segments = ["Já, einmitt.", "Hvað segir þú?", "Gott."].map((text, at) => {
  const words = text.split(/(?<=\s)/).map((word) => {
    return { startTime: `${at}s`, endTime: `${at + 1}s`, word };
  });
  return { speakerId: "1", startTime: `${at}s`, endTime: `${at + 1}s`, words };
});
const base = baseOf(segments);
const edited = (from: number, to: number, text: string): EditedParagraph => {
  return { text, speaker: "2", from, to, isSoft: false };
};

test("recognized() puts the words of the run back, and keeps the speaker", () => {
  assert.deepEqual(recognized(base, edited(2, 5, "Hva?")), edited(2, 5, "Hvað segir þú?"));
  assert.deepEqual(recognized(base, edited(1, 2, "")), edited(1, 2, "einmitt."));
});

test("recognized() does not join the words of segments", () => {
  const text = "einmitt. Hvað segir þú? Gott.";
  assert.deepEqual(recognized(base, edited(1, 6, "x")), edited(1, 6, text));
});

test("recognized() has nothing for a paragraph without a run", () => {
  assert.equal(recognized(base, edited(2, 2, "nýtt")), undefined);
});
