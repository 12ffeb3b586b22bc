import assert from "node:assert/strict";
import { test } from "node:test";
import { commandIds, keysOf } from "./command-table.ts";
import { chordText } from "./chord-text.ts";

test("chordText() names keys as keyboards do", () => {
  const rows: [chord: string, text: string][] = [
    ["Alt+Shift+ArrowUp", "Alt + Shift + ↑"],
    ["Ctrl+S", "Ctrl + S"],
    ["Escape", "Esc"],
    ["MediaTrackNext", "Media Next"],
    ["F4", "F4"],
  ];
  for (const [chord, text] of rows) assert.equal(chordText(chord), text);
});

test("chordText() has different names for all keys that commands have by themselves", () => {
  const chords = commandIds.flatMap((id) => keysOf(id, {}));
  assert.equal(new Set(chords.map(chordText)).size, chords.length);
  for (const chord of chords) assert.doesNotMatch(chordText(chord), /Arrow|Track|PlayPause/);
});
