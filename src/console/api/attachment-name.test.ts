import assert from "node:assert/strict";
import { test } from "node:test";
import { attachmentName } from "./attachment-name.ts";

const rows: readonly (readonly [string, string | undefined])[] = [
  ["", undefined],
  ["inline", undefined],
  ['attachment; filename=""', undefined],
  ['attachment; filename="fundur.srt"', "fundur.srt"],
  [
    `attachment; filename="Vi_tal.srt"; filename*=UTF-8''Vi%C3%B0tal%20%28%C3%BE%29.srt`,
    "Viðtal (þ).srt",
  ],
  [`attachment; filename="b.srt"; filename*=UTF-8''%E0%A4`, "b.srt"],
];

for (const [header, name] of rows) {
  test(`attachmentName() returns ${JSON.stringify(name)} for ${JSON.stringify(header)}`, () => {
    assert.equal(attachmentName(header), name);
  });
}
