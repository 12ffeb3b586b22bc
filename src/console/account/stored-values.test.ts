import assert from "node:assert/strict";
import { test } from "node:test";
import { mergedValues, type FormPart } from "./stored-values.ts";

interface Values {
  readonly name: string;
  readonly language: string;
  readonly model: string;
}

const parts: readonly FormPart<Values>[] = [
  { fields: ["name"], textOf: ({ name }) => name.trim() },
  { fields: ["language", "model"], textOf: ({ language, model }) => `${language} ${model}` },
];
const old: Values = { name: "old", language: "is-IS", model: "a" };

test("fields that the user has not changed show what is stored, and the others stay", () => {
  const table: [
    name: string,
    now: Partial<Values>,
    base: Partial<Values>,
    stored: Partial<Values>,
    merged: Partial<Values>,
  ][] = [
    ["nothing is changed", {}, {}, {}, {}],
    ["others have changed it", {}, {}, { name: "theirs" }, { name: "theirs" }],
    ["the user has changed it", { name: "mine" }, {}, { name: "theirs" }, { name: "mine" }],
    ["the user is typing", { name: "old " }, {}, { model: "b" }, { name: "old ", model: "b" }],
    [
      "the user has typed a space, and others have changed it",
      { name: "old " },
      {},
      { name: "x" },
      { name: "x" },
    ],
    [
      "a save has been answered",
      { name: "new" },
      { name: "new" },
      { name: "new" },
      { name: "new" },
    ],
    [
      "the service has stored something else",
      { name: "new" },
      { name: "new" },
      { name: "New" },
      { name: "New" },
    ],
    ["it was set back since the save was sent", {}, { name: "new" }, { name: "new" }, {}],
    ["others have changed it in the meantime", {}, { name: "new" }, { name: "theirs" }, {}],
    [
      "one of two that belong together",
      { model: "b" },
      {},
      { language: "en-US", model: "c" },
      { model: "b" },
    ],
    [
      "two that belong together",
      {},
      {},
      { language: "en-US", model: "c" },
      { language: "en-US", model: "c" },
    ],
  ];
  for (const [name, now, base, stored, merged] of table) {
    const all = {
      now: { ...old, ...now },
      base: { ...old, ...base },
      stored: { ...old, ...stored },
    };
    assert.deepEqual(mergedValues(parts, all), { ...old, ...merged }, name);
  }
});
