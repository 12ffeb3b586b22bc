import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { ModelFileError } from "../../models/check-model-files.ts";
import { joinDividedLetters, keepDividedLetters } from "./divided-letters.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-letters-"));
after(() => rmSync(folder, { recursive: true }));

/** Returns tokens as the library reads them from the copy, and removes what is not UTF-8. */
async function read(tokens: readonly Uint8Array[]): Promise<readonly string[]> {
  const lines = tokens.map((each, at) => `${Buffer.from(each).toString("base64")} ${at}\n`);
  writeFileSync(join(folder, "tokens.txt"), lines.join(""));
  await using copy = await keepDividedLetters(folder, { path: "tokens.txt" });
  const kept = readFileSync(copy.path, "utf8").trimEnd().split("\n");
  return kept.map((line) => {
    const bytes = Buffer.from(line.split(" ")[0] ?? "", "base64");
    return new TextDecoder().decode(bytes).replaceAll("\ufffd", "");
  });
}

test("letters that are divided between tokens are kept", async () => {
  // The tokens of " Þórður" and " æði" in Whisper's tokenizer for several languages.
  const tokens = [" \u00c3", "\u009e", "\u00c3\u00b3r", "\u00c3\u00b0", "ur", " \u00c3", "\u00a6"];
  const texts = await read(tokens.map((token) => Buffer.from(token, "latin1")));
  assert.deepEqual(joinDividedLetters([texts.join("")]), [" Þórður æ"]);
  assert.deepEqual(joinDividedLetters(texts), [" ", "Þ", "ór", "ð", "ur", " ", "æ"]);
});

test("any text is the same after it is divided into tokens anywhere", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
      fc.array(fc.nat(40), { maxLength: 5 }),
      async (text, cuts) => {
        fc.pre(!/[\ue000-\ue0ff\ufffd]/u.test(text));
        const bytes = Buffer.from(text);
        const places = [0, ...cuts.map((cut) => cut % bytes.length), bytes.length];
        const sorted = places.toSorted((a, b) => a - b);
        const tokens = sorted.slice(1).map((end, at) => bytes.subarray(sorted[at], end));
        const texts = await read(tokens);
        assert.deepEqual(joinDividedLetters([texts.join("")]), [text]);
        assert.equal(joinDividedLetters(texts).join(""), text);
      },
    ),
    { numRuns: 50 },
  );
});

test("bytes that are not a letter are removed, and other texts stay the same", () => {
  assert.deepEqual(joinDividedLetters(["a\ue0c3b", "\ue0b0"]), ["ab", ""]);
  assert.deepEqual(joinDividedLetters(["\ue0c3"]), [""]);
  const texts = ["þetta", " er \ufeff", "😀"];
  assert.deepEqual(joinDividedLetters(texts), texts);
});

test("an error names the line that is not a token in base64, and nothing else stays", async () => {
  const rows: readonly [content: string, message: string][] = [
    ["YQ== 0\n\u2581go 1\n", "tokens.txt: line 2 is not a token in base64 and a number"],
    ["YQ== 0\nYg==\n", "tokens.txt: line 2 is not a token in base64 and a number"],
    ["", "tokens.txt: is empty"],
  ];
  for (const [content, message] of rows) {
    writeFileSync(join(folder, "tokens.txt"), content);
    await assert.rejects(keepDividedLetters(folder, { path: "tokens.txt" }), (error) => {
      assert.ok(error instanceof ModelFileError);
      assert.equal(error.message, message);
      return true;
    });
  }
});

test("the empty token at the end of the tokenizer for several languages is kept", async () => {
  writeFileSync(join(folder, "tokens.txt"), "YQ== 0\n= 1\n");
  await using copy = await keepDividedLetters(folder, { path: "tokens.txt" });
  assert.equal(readFileSync(copy.path, "utf8"), "YQ== 0\n= 1\n");
});
