import assert from "node:assert/strict";
import { test } from "node:test";
import { foldEmail } from "./email.ts";

test("foldEmail() accepts addresses in ASCII and folds their case", () => {
  const rows: [text: string, folded: string | undefined][] = [
    ["anna@example.is", "anna@example.is"],
    ["Anna.B+hlust@Example.IS", "anna.b+hlust@example.is"],
    ["o'brien@x", "o'brien@x"],
    ["a_b-c!#$%&*/=?^`{|}~@xn--j-xha.is", "a_b-c!#$%&*/=?^`{|}~@xn--j-xha.is"],
    [`${"a".repeat(244)}@xample.is`, `${"a".repeat(244)}@xample.is`],
    [`${"a".repeat(245)}@xample.is`, undefined],
    ["", undefined],
    ["anna", undefined],
    ["@example.is", undefined],
    ["anna@", undefined],
    ["anna@example..is", undefined],
    ["anna@example.is.", undefined],
    ["anna@example.is@example.com", undefined],
    ["anna @example.is", undefined],
    [" anna@example.is", undefined],
    ["anna@example.is\n", undefined],
    ["anna@exam\u0000ple.is", undefined],
    ["Anna <anna@example.is>", undefined],
    ['"anna"@example.is', undefined],
    ["anna,bo@example.is", undefined],
    ["þóra@example.is", undefined],
    ["anna@þjóð.is", undefined],
    // The lowercase form of the Kelvin sign is k; that of the dotted capital I is an i with a
    // combining mark.
    ["\u212Aari@example.is", undefined],
    ["\u0130da@example.is", undefined],
  ];
  for (const [text, folded] of rows) assert.equal(foldEmail(text), folded, text);
});
