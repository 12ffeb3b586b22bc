import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { readPageRequest } from "./page-request.ts";
import { createPageTokens, type PageScope } from "./page-token.ts";

const tokens = createPageTokens(Buffer.alloc(32, 1));
const scope: PageScope = { collection: "transcripts", accountId: "a", filter: "f" };

test("read() returns the position that was passed to write()", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 }), (position) => {
      assert.deepEqual(tokens.read(scope, tokens.write(scope, position)), position);
    }),
  );
});

test("write() encrypts the position, and always creates the same token for the same page", () => {
  const position = ["2026-11-20T10:00:00.000001Z", "01893f00-0000-7000-8000-000000000001"];
  const token = tokens.write(scope, position);
  const bytes = Buffer.from(token, "base64url");
  for (const part of [...position, scope.collection]) {
    assert.ok(!token.includes(part) && !bytes.includes(part), part);
  }
  assert.ok(!bytes.includes('["'));
  assert.equal(tokens.write(scope, position), token);
  const next = Buffer.from(tokens.write(scope, [...position, "x"]), "base64url");
  assert.notDeepEqual(next.subarray(0, 12), bytes.subarray(0, 12), "another nonce for each text");
});

/** Creates a token in the form that Hlust used until November 2026: readable, with a signature. */
function readableToken(position: readonly string[]): string {
  const payload = Buffer.from(JSON.stringify(position));
  const mac = createHmac("sha256", Buffer.alloc(32, 1))
    .update(JSON.stringify([scope.collection, scope.accountId, scope.filter]))
    .update("\0")
    .update(payload)
    .digest();
  return Buffer.concat([mac.subarray(0, 16), payload]).toString("base64url");
}

test("read() rejects tokens of the earlier, readable form", () => {
  assert.equal(tokens.read(scope, readableToken(["x"])), undefined);
  assert.equal(tokens.read(scope, readableToken(["2026-11-20T10:00:00.000001Z", "id"])), undefined);
});

test("read() rejects tokens for a different list, account, filter or key", () => {
  const token = tokens.write(scope, ["x"]);
  const others: PageScope[] = [
    { ...scope, collection: "jobs" },
    { ...scope, accountId: "b" },
    { ...scope, filter: "" },
    { collection: 'transcripts","a', accountId: "", filter: "f" },
  ];
  for (const other of others) assert.equal(tokens.read(other, token), undefined);
  assert.equal(createPageTokens(Buffer.alloc(32, 2)).read(scope, token), undefined);
});

test("read() rejects modified tokens and any other text", () => {
  const token = tokens.write(scope, ["2026-11-20T10:00:00.000001Z", "id"]);
  fc.assert(
    fc.property(fc.nat(token.length), fc.string({ maxLength: 2 }), (at, other) => {
      const altered = token.slice(0, at) + other + token.slice(at + 1);
      fc.pre(altered !== token);
      assert.equal(tokens.read(scope, altered), undefined);
    }),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.equal(tokens.read(scope, text), undefined);
    }),
  );
  assert.equal(tokens.read(scope, "A".repeat(1_000_000)), undefined);
});

test("readPageRequest() limits the page size and reports every violation", () => {
  const sizes: [pageSize: number, size: number][] = [
    [0, 50],
    [1, 1],
    [1000, 1000],
    [1001, 1000],
    [2 ** 31 - 1, 1000],
  ];
  for (const [pageSize, size] of sizes) {
    const page = readPageRequest(tokens, scope, { pageSize, pageToken: "" });
    assert.deepEqual(page, { after: undefined, size });
  }
  const pageToken = tokens.write(scope, ["time", "id"]);
  const next = readPageRequest(tokens, scope, { pageSize: 0, pageToken });
  assert.deepEqual(next, { after: ["time", "id"], size: 50 });
  assert.deepEqual(readPageRequest(tokens, scope, { pageSize: -1, pageToken: "x" }), [
    { field: "pageSize", description: "must be 0 or more, not -1" },
    {
      field: "pageToken",
      description: "is not a nextPageToken of this list with this filter",
    },
  ]);
});
