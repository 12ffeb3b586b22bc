import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf } from "./shortcuts.ts";

const none = { shiftKey: false, altKey: false, ctrlKey: false, metaKey: false };

function keyOf(key: string, held: Partial<typeof none> & { readonly altGraph?: boolean } = {}) {
  const { altGraph = false, ...modifiers } = held;
  return { key, ...none, ...modifiers, getModifierState: () => altGraph };
}

test("commandOf() returns the command of each key", () => {
  assert.deepEqual(commandOf(keyOf(" ")), { do: "toggle" });
  assert.deepEqual(commandOf(keyOf("k")), { do: "toggle" });
  assert.deepEqual(commandOf(keyOf("ArrowLeft")), { do: "skip", by: -5 });
  assert.deepEqual(commandOf(keyOf("L", { shiftKey: true })), { do: "skip", by: 1 });
  assert.deepEqual(commandOf(keyOf("ArrowRight", { shiftKey: true })), { do: "word", by: 1 });
  assert.deepEqual(commandOf(keyOf("7")), { do: "tenth", at: 7 });
  // The positions of these keys differ between keyboards: some keyboards need Shift, others do not.
  for (const shiftKey of [false, true]) {
    assert.deepEqual(commandOf(keyOf("<", { shiftKey })), { do: "speed", by: -1 });
    assert.deepEqual(commandOf(keyOf("?", { shiftKey })), { do: "sheet" });
  }
});

test("keys that the browser, the device or an Icelandic keyboard uses are not shortcuts", () => {
  for (const held of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { altGraph: true }]) {
    for (const key of ["k", " ", "5", "?", "ArrowLeft"])
      assert.equal(commandOf(keyOf(key, held)), undefined, `${key} ${JSON.stringify(held)}`);
  }
  for (const key of ["a", "þ", "Tab", "Enter", "Escape", "PageDown", "Home", "F5"])
    assert.equal(commandOf(keyOf(key)), undefined, key);
  assert.equal(commandOf(keyOf(" ", { shiftKey: true })), undefined);
});
