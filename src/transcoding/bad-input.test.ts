// Tests that the transcoder throws only ServiceError for valid, nearly valid and random paths and
// bodies.
import assert from "node:assert/strict";
import { Buffer, isUtf8 } from "node:buffer";
import { test } from "node:test";
import { type DescMessage, type JsonValue, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  anyTranscoder,
  bindings,
  outcome,
  pathOf,
  values,
} from "../../test/fixtures/any-transcoder.ts";
import { anyStrings, arbitraryMessage } from "../../test/fixtures/arbitrary-message.ts";
import { ItemSchema, MSchema, Vectors } from "../../test/gen/transcoding_pb.ts";
import { mutated } from "../../test/fixtures/mutated.ts";
import { runs } from "../../test/fixtures/property-runs.ts";
import { ServiceError } from "../std/service-error.ts";
import { encodeFully } from "./percent-encoding.ts";
import { encodeKeepingSlashes } from "../../test/fixtures/any-transcoder.ts";
import { registryOf } from "./registry-of.ts";
import type { Routed } from "./transcoder.ts";

const methods = fc.constantFrom(
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "WEBSOCKET",
  "HEAD",
  "get",
  "*",
  "constructor",
  "",
);
test("route() finds a route for any method and path or refuses it, and finds the same match in encoded form", () => {
  const good = fc
    .tuple(bindings, fc.array(values, { minLength: 1, maxLength: 4 }))
    .map(([binding, fills]) => `${binding.httpMethod} ${pathOf(binding, fills)}`);
  const pieces = [
    "/",
    "//",
    ":",
    ":do",
    "%",
    "%2F",
    "%2f",
    "%3A",
    "%ff",
    "%C3",
    "%C3%BE",
    "\u00ff",
    "\u00c3\u00be",
    "þ",
    "?",
    "a",
    "\u0000",
    "*",
    "{s}",
  ];
  const targets = fc.oneof(
    { weight: 6, arbitrary: mutated(good, pieces) },
    {
      weight: 1,
      arbitrary: fc.tuple(methods, fc.string({ unit: "binary" })).map((pair) => pair.join(" ")),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(methods, fc.webUrl({ withQueryParameters: true }))
        .map((pair) => pair.join(" ")),
    },
  );
  const counts = new Map<number, number>();
  fc.assert(
    fc.property(targets, (line) => {
      const at = line.indexOf(" ");
      const [method, target] = [line.slice(0, at), line.slice(at + 1)];
      const routed = outcome(() => anyTranscoder.route(method, target));
      const status = typeof routed === "number" ? routed : 200;
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (typeof routed === "number") return;
      const { binding, captures } = routed;
      assert.equal(captures.length, binding.path.variables.length);
      assert.ok(captures.every((capture) => capture.isWellFormed()));
      // A path that contains the variables, encoded by item 6, has the same route.
      const again = anyTranscoder.route(method, written(binding, captures));
      assert.deepEqual([again.binding.template, again.captures], [binding.template, captures]);
    }),
    { numRuns: runs(10_000) },
  );
  for (const [status, least] of [
    [200, 2000],
    [400, 500],
    [404, 500],
    [405, 100],
  ] as const) {
    assert.ok((counts.get(status) ?? 0) > runs(least), `${status}: ${counts.get(status)}`);
  }
});

/** Writes a path for the binding in which the variables have these values. */
function written({ path }: Routed["binding"], captures: readonly string[]): string {
  const parts = path.segments.map((one) => (one.kind === "literal" ? encodeFully(one.text) : "*"));
  for (const [index, { start, end, multi }] of path.variables.entries()) {
    const value = captures[index] ?? "";
    const stop = end === -1 ? parts.length : end;
    // An escaped slash was not decoded, so it must not be escaped again.
    const text = multi
      ? encodeKeepingSlashes(value).replaceAll(/%252f/gi, (one) => `%${one.slice(3)}`)
      : encodeFully(value);
    parts.splice(
      start,
      stop - start,
      text,
      ...Array.from({ length: stop - start - 1 }, () => "\n"),
    );
  }
  const text = parts.filter((part) => part !== "\n").join("/");
  return `/${text}${path.verb === "" ? "" : `:${encodeFully(path.verb)}`}`;
}

/** The JSON of a message or of a part of one, with the binding that has this JSON as its body. */
const nearlyGoodBody = (() => {
  const options = { depth: 2, strings: anyStrings, inAny: ItemSchema };
  const registry = registryOf([Vectors]);
  const jsonOf = (type: DescMessage): fc.Arbitrary<JsonValue> =>
    arbitraryMessage(type, options).map((message) => toJson(type, message, { registry }));
  const [whole, item] = [jsonOf(MSchema), jsonOf(ItemSchema)];
  const bytes = fc
    .uint8Array({ maxLength: 9 })
    .map((bytes) => Buffer.from(bytes).toString("base64"));
  const bodies: [request: string, json: fc.Arbitrary<JsonValue>][] = [
    ["POST /all", whole],
    ["POST /all/x/1", whole],
    ["PATCH /sub", whole],
    ["PUT /item?s=x", item],
    ["PATCH /m/x", item],
    ["PUT /items", fc.array(item, { maxLength: 3 })],
    ["PUT /bytes", bytes],
  ];
  return (pieces: readonly string[]) =>
    fc.oneof(
      ...bodies.map(([request, json]) => {
        const text = fc
          .tuple(json, fc.nat(1))
          .map(([json, indent]) => JSON.stringify(json, undefined, indent));
        return fc.tuple(fc.constant(request), mutated(text, pieces));
      }),
    );
})();

test("bind() accepts or refuses any body, and reads a body only if it is JSON in UTF-8", () => {
  const pieces = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    '"s":"x",',
    '"i32":',
    '"sub":{',
    "null",
    "true",
    "1e5",
    "-",
    "NaN",
    '"__proto__":{},',
    '"constructor":1,',
    '"@type":',
    "\\ud800",
    "\u0000",
    "\u00ff",
    "\u00c3\u00be",
    "þ",
    " ",
    "\ufeff",
  ];
  const counts = { taken: 0, malformed: 0, refused: 0 };
  const body = fc.tuple(nearlyGoodBody(pieces), fc.boolean());
  fc.assert(
    fc.property(body, ([[request, text], isLatin1]) => {
      const [method = "", target = ""] = request.split(" ");
      const routed = anyTranscoder.route(method, target);
      const bytes = Buffer.from(text, isLatin1 ? "latin1" : "utf8");
      let reason = "";
      const found = outcome(() => {
        try {
          return anyTranscoder.bind(routed, bytes);
        } catch (error) {
          if (error instanceof ServiceError) reason = error.reason;
          throw error;
        }
      });
      assert.ok(typeof found === "object" || found === 400);
      if (bytes.length === 0) return;
      assert.equal(reason === "MALFORMED_JSON", !isJson(bytes), text);
      if (typeof found === "object") counts.taken++;
      else counts[reason === "MALFORMED_JSON" ? "malformed" : "refused"]++;
    }),
    { numRuns: runs(10_000) },
  );
  assert.ok(
    Object.values(counts).every((count) => count > runs(500)),
    JSON.stringify(counts),
  );
});

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString().replace(/^\ufeff/, ""));
    return isUtf8(bytes);
  } catch {
    return false;
  }
}
