import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeText } from "./decode-text.ts";

test("decodeText() decodes UTF-8, UTF-16 and Windows-1252", () => {
  const text = "Góðan daginn, Þórður";
  const utf16 = Buffer.from(`\ufeff${text}`, "utf16le");
  const rows: [bytes: Uint8Array, name: string][] = [
    [Buffer.from(text), "UTF-8"],
    [Buffer.from(`\ufeff${text}`), "UTF-8 with a byte order mark"],
    [utf16, "UTF-16LE"],
    [Buffer.from(utf16).swap16(), "UTF-16BE"],
    [Buffer.from(text, "latin1"), "Windows-1252"],
  ];
  for (const [bytes, name] of rows) assert.equal(decodeText(bytes), text, name);
  assert.equal(decodeText(Uint8Array.of(0x93, 0x61, 0x94)), "“a”");
  assert.equal(decodeText(new Uint8Array()), "");
});
