import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { starterCard } from "../../../test/fixtures/open-starter.ts";
import type { ModelCard } from "../../models/model-card.ts";
import { modelIdentity } from "./model-identity.ts";

const card = starterCard("streaming");
const { model, tokens } = card.files;
assert.ok(model && tokens);

/** Cards of other models. */
const others: readonly [what: string, card: ModelCard][] = [
  ["name", { ...card, name: "other" }],
  ["version", { ...card, version: `${card.version}.1` }],
  ["kind", { ...card, kind: "zipformer-ctc" }],
  ["options", { ...card, options: { ...card.options, shiftFrames: 5 } }],
  ["network", { ...card, files: { ...card.files, model: { ...model, sha256: "0" } } }],
  ["tokens", { ...card, files: { ...card.files, tokens: { ...tokens, sha256: "0" } } }],
];
for (const [what, other] of others) {
  test(`a model with another ${what} has another identity`, async () => {
    const identity = await modelIdentity(card, "/nowhere");
    assert.match(identity, /^is-IS-starter 3 [0-9a-f]{16}$/);
    assert.notEqual(await modelIdentity(other, "/nowhere"), identity);
  });
}

test("a lexicon changes nothing, and files without a checksum are read", async () => {
  const folder = await mkdtemp(join(tmpdir(), "hlust-model-"));
  try {
    const { lexicon: _, ...files } = card.files;
    const bare = { ...card, files: { ...files, model: { path: "a" }, tokens: { path: "b" } } };
    const identities: string[] = [];
    for (const content of ["one", "two", "one"]) {
      await writeFile(join(folder, "a"), content);
      await writeFile(join(folder, "b"), "tokens");
      identities.push(await modelIdentity(bare, folder));
    }
    assert.equal(identities[0], identities[2]);
    assert.notEqual(identities[0], identities[1]);
    const withoutLexicon = await modelIdentity({ ...card, files }, folder);
    assert.equal(withoutLexicon, await modelIdentity(card, folder));
  } finally {
    await rm(folder, { recursive: true });
  }
});
