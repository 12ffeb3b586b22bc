import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, editOf } from "./details-draft.ts";

const before = draftOf({ subject: "Fundur", keywords: ["vatn", "ís"] });

test("editOf() contains only the fields that were changed", () => {
  assert.deepEqual(before, { subject: "Fundur", description: "", keywords: ["vatn", "ís"] });
  assert.equal(editOf(before, { ...before, subject: " Fundur " }), undefined);
  assert.deepEqual(editOf(before, { ...before, description: "Í Núpsstað\n" }), {
    description: { from: "", to: "Í Núpsstað" },
  });
  assert.deepEqual(editOf(before, { ...before, subject: "", keywords: ["ís", "vatn"] }), {
    subject: { from: "Fundur", to: "" },
    keywords: { from: ["vatn", "ís"], to: ["ís", "vatn"] },
  });
  assert.deepEqual(editOf(before, { ...before, keywords: ["vatn"] }), {
    keywords: { from: ["vatn", "ís"], to: ["vatn"] },
  });
});
