import assert from "node:assert/strict";
import { test } from "node:test";
import { chordOf, problemOf, type KeyPress } from "./chord.ts";
import {
  commandIds,
  commandsByChord,
  commandTable,
  keysOf,
  withKey,
  type CommandId,
} from "./command-table.ts";
import { Commands } from "./commands.ts";
import { defaultSettings, readSettings } from "./settings.ts";

function press(key: string, code = key, held = ""): KeyPress {
  return {
    key,
    code,
    ctrlKey: held.includes("c"),
    metaKey: held.includes("m"),
    altKey: held.includes("a"),
    shiftKey: held.includes("s"),
    isComposing: held.includes("i"),
    repeat: held.includes("r"),
    getModifierState: () => held.includes("g"),
  };
}

test("chordOf() names keys by digit place, letter and modifiers, and leaves typing alone", () => {
  const rows: [key: KeyPress, chord: string | undefined][] = [
    [press("s", "KeyS", "c"), "Ctrl+S"],
    [press("s", "KeyS", "m"), "Ctrl+S"],
    [press("Z", "KeyZ", "cs"), "Ctrl+Shift+Z"],
    [press("F8", "F8", "s"), "Shift+F8"],
    [press("!", "Digit1", "s"), "Shift+1"],
    [press("1", "Numpad1"), "1"],
    [press("End", "Numpad1"), "End"],
    [press(" ", "Space", "c"), "Ctrl+Space"],
    [press("ArrowUp", "ArrowUp", "as"), "Alt+Shift+ArrowUp"],
    [press("MediaPlayPause", ""), "MediaPlayPause"],
    [press("þ", "Slash"), "Þ"],
    [press("@", "KeyQ", "ca"), undefined],
    [press("@", "KeyQ", "g"), undefined],
    [press("Dead", "BracketRight"), undefined],
    [press("Process", "KeyA"), undefined],
    [press("Enter", "Enter", "i"), undefined],
    [press("Shift", "ShiftLeft", "s"), undefined],
  ];
  for (const [key, chord] of rows) assert.equal(chordOf(key), chord, key.key);
});

test("problemOf() refuses chords that type, move in the text or belong to the browser", () => {
  const free = [
    "F4",
    "Escape",
    "Tab",
    "Ctrl+S",
    "Alt+1",
    "Shift+Enter",
    "Alt+ArrowUp",
    "Ctrl+Enter",
  ];
  const types = [
    "A",
    "Shift+Þ",
    "1",
    "Enter",
    "Shift+ArrowUp",
    "Ctrl+ArrowLeft",
    "Space",
    "Delete",
  ];
  for (const chord of free) assert.equal(problemOf(chord), undefined, chord);
  for (const chord of types) assert.equal(problemOf(chord), "types", chord);
  for (const chord of ["Ctrl+C", "Ctrl+W"]) assert.equal(problemOf(chord), "taken", chord);
});

test("no two commands have the same key, and each key can be chosen", () => {
  const chords = commandIds.flatMap((id) => commandTable[id].keys);
  assert.equal(new Set(chords).size, chords.length);
  assert.equal(
    commandIds.every((id) => keysOf(id, {}).length > 0),
    true,
    "each command has a key",
  );
  for (const chord of chords) {
    assert.equal(problemOf(chord), undefined, chord);
    // Ctrl+Alt and AltGr type characters on an Icelandic keyboard.
    assert.doesNotMatch(chord, /Ctrl\+Alt/);
  }
});

test("a key that is given to another command leaves the first one", () => {
  const chosen = withKey({}, "save", "F4");
  assert.deepEqual(keysOf("save", chosen), ["Ctrl+S", "F4"]);
  assert.deepEqual(keysOf("playPause", chosen), ["Escape", "MediaPlayPause"]);
  assert.equal(commandsByChord(chosen).get("F4"), "save");
  assert.equal(withKey(chosen, "save", "F4"), chosen);
  assert.equal(commandsByChord({ find: [] }).get("Ctrl+F"), undefined);
  assert.equal(commandsByChord({ find: ["Ctrl+S"] }).get("Ctrl+S"), "find");
});

test("F6 stays with its command, whatever was chosen for it or for others", () => {
  const chosen = { nextRegion: [], save: ["F6", "F10"], previousRegion: ["F11"] };
  assert.deepEqual(keysOf("nextRegion", chosen), ["F6"]);
  assert.deepEqual(keysOf("save", chosen), ["F10"]);
  assert.equal(commandsByChord(chosen).get("F6"), "nextRegion");
  assert.deepEqual(keysOf("nextRegion", { nextRegion: ["F11"] }), ["F6", "F11"]);
});

test("Commands asks the latest handler first, and passes on a key that none uses", () => {
  const commands = new Commands();
  const done: string[] = [];
  const add = (id: CommandId, name: string, does: boolean) =>
    commands.add(id, () => {
      done.push(name);
      return does;
    });
  assert.equal(commands.press(press("s", "KeyS", "c")), false);
  add("save", "first", true);
  const remove = add("save", "second", false);
  assert.equal(commands.press(press("s", "KeyS", "c")), true);
  remove();
  commands.setKeys({ save: ["F10"] });
  assert.equal(commands.press(press("s", "KeyS", "c")), false);
  assert.equal(commands.press(press("F10")), true);
  assert.equal(commands.press(press("s", "KeyS")), false);
  assert.deepEqual(done, ["second", "first", "first"]);
});

test("undo and saving wait for the code of a key before them, and playing does not", () => {
  const commands = new Commands();
  const done: string[] = [];
  const add = (id: CommandId) =>
    commands.add(id, (isRepeat) => done.push(isRepeat ? `${id} again` : id) > 0);
  for (const id of ["undo", "save", "playPause"] as const) add(id);
  commands.inOrder(() => done.push("first"));
  const [release, releaseOther] = [commands.hold(), commands.hold()];
  commands.inOrder(() => done.push("late"));
  assert.equal(commands.press(press("z", "KeyZ", "c")), true);
  assert.equal(commands.press(press("F4")), true);
  assert.equal(commands.press(press("y", "KeyY", "c")), false);
  commands.inOrder(() => done.push("late too"));
  commands.press(press("s", "KeyS", "c"));
  commands.press(press("s", "KeyS", "cr"));
  assert.deepEqual(done.splice(0), ["first", "playPause"]);
  release();
  release();
  assert.deepEqual(done, []);
  releaseOther();
  assert.deepEqual(done.splice(0), ["late", "undo", "late too", "save", "save again"]);
  commands.run("undo");
  assert.deepEqual(done, ["undo"]);
});

test("readSettings() keeps what it understands, and has defaults for the rest", () => {
  for (const kept of [undefined, null, "x", [], 1, { keys: 3, whileTyping: "stop" }]) {
    assert.deepEqual(readSettings(kept), defaultSettings);
  }
  const kept = {
    keys: { save: ["F10", 1, "", "x".repeat(41)], constructor: ["F1"], find: [], other: ["F2"] },
    jumpBackSeconds: 5,
    unclearBelow: 0.6,
    whileTyping: "pause",
    tabPlays: false,
  };
  assert.deepEqual(readSettings(JSON.parse(JSON.stringify(kept))), {
    ...defaultSettings,
    keys: { save: ["F10"], find: [] },
    jumpBackSeconds: 5,
    unclearBelow: 0.6,
    whileTyping: "pause",
    tabPlays: false,
  });
  const outside = { jumpBackSeconds: 6, unclearBelow: -0.1 };
  assert.deepEqual(readSettings(outside), defaultSettings);
});
