import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isId } from "../std/ids.ts";
import { newApiKey, parseApiKey } from "./api-key.ts";
import { secretMatches } from "./secret-token.ts";

describe("newApiKey()", () => {
  it("creates a token from which its id and hash can be read, in characters that HTTP tokens allow", () => {
    const [one, other] = [newApiKey(), newApiKey()];
    assert.match(one.token, /^hlust_[0-9a-f]{32}_[A-Za-z0-9._~-]{43}$/);
    assert.ok(isId(one.id));
    const parts = parseApiKey(one.token) ?? assert.fail("not parsed");
    assert.equal(parts.id, one.id);
    assert.equal(one.secretHash.length, 32);
    assert.ok(secretMatches(parts.secret, one.secretHash));
    assert.ok(!secretMatches(parts.secret, other.secretHash));
    assert.ok(!secretMatches(parts.secret, undefined));
  });

  it("creates a token that becomes invalid if any one character changes", () => {
    const { id, token, secretHash } = newApiKey();
    fc.assert(
      fc.property(
        fc.nat(token.length - 1),
        fc.constantFrom("0", "a", "A", "_", "-", ".", " ", "\n"),
        (at, character) => {
          fc.pre(token[at] !== character);
          const changed = token.slice(0, at) + character + token.slice(at + 1);
          const parts = parseApiKey(changed);
          assert.ok(!parts || parts.id !== id || !secretMatches(parts.secret, secretHash));
        },
      ),
    );
  });
});

describe("parseApiKey()", () => {
  const { token } = newApiKey();
  for (const text of [
    "",
    "hlust_",
    token.slice(0, -1),
    `${token}A`,
    `${token}\n`,
    token.toUpperCase(),
    `x${token}`,
  ]) {
    it(`does not accept ${JSON.stringify(text.replace(token, "<token>").slice(0, 12))} as a key`, () => {
      assert.equal(parseApiKey(text), undefined);
    });
  }
});
