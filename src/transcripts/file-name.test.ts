import assert from "node:assert/strict";
import { test } from "node:test";
import { attachmentHeader, fileNameOf } from "./file-name.ts";

test("fileNameOf() returns a name that every file system accepts", () => {
  const rows: [subject: string, name: string][] = [
    ["Fundur 7", "Fundur 7.srt"],
    ["", "transcript.srt"],
    ["  ../..  ", "transcript.srt"],
    ["../../etc/passwd", "etc passwd.srt"],
    ['a/b\\c:d*e?f"g<h>i|j', "a b c d e f g h i j.srt"],
    ["a\r\nSet-Cookie: x\0", "a Set-Cookie x.srt"],
    ["abc\u202etxt.exe", "abc txt.exe.srt"],
    ["con", "con_.srt"],
    ["half \ud800", "half.srt"],
    ["A\u0301vik.", "Ávik.srt"],
    ["þ".repeat(1000), `${"þ".repeat(100)}.srt`],
  ];
  for (const [subject, name] of rows) assert.equal(fileNameOf(subject, "srt"), name);
});

test("attachmentHeader() returns the name in ASCII and the encoded full name", () => {
  const rows: [name: string, header: string][] = [
    ["a b.srt", 'attachment; filename="a b.srt"'],
    [
      "Þing í dag (1).srt",
      `attachment; filename="Thing i dag (1).srt"; filename*=UTF-8''%C3%9Eing%20%C3%AD%20dag%20%281%29.srt`,
    ],
    ["会議.srt", `attachment; filename="__.srt"; filename*=UTF-8''%E4%BC%9A%E8%AD%B0.srt`],
  ];
  for (const [name, header] of rows) assert.equal(attachmentHeader(name), header);
});
