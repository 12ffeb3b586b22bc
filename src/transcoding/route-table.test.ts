import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parsePathTemplate } from "./path-template.ts";
import { RouteTable } from "./route-table.ts";
import { assertLinear } from "../../test/fixtures/growth.ts";
import { runs } from "../../test/fixtures/property-runs.ts";

function tableOf(routes: readonly string[]): RouteTable<string> {
  const table = new RouteTable<string>();
  for (const route of routes) {
    const [method = "", template = ""] = route.split(" ");
    table.add(method, parsePathTemplate(template), route);
  }
  return table;
}

test("match() prefers a verb, then a literal, *, and **, and backtracks if the method has no route", () => {
  const table = tableOf([
    "GET /a/b",
    "DELETE /a/{x}",
    "GET /a/{x}",
    "* /a/{rest=**}",
    "POST /a/{x}:go",
    "GET /a/b/c/d",
    "PUT /{x}/b/{y=**}",
    "WEBSOCKET /a/live",
  ]);
  const rows: [method: string, path: string, route: string | undefined, captures: string[]][] = [
    ["GET", "/a/b", "GET /a/b", []],
    ["DELETE", "/a/b", "DELETE /a/{x}", ["b"]],
    ["GET", "/a/c", "GET /a/{x}", ["c"]],
    ["PATCH", "/a/c", "* /a/{rest=**}", ["c"]],
    ["GET", "/a", "* /a/{rest=**}", [""]],
    ["GET", "/a/", "* /a/{rest=**}", [""]],
    ["GET", "/a//", undefined, []],
    ["GET", "/a//b", undefined, []],
    ["GET", "/a/b/", "* /a/{rest=**}", ["b/"]],
    ["POST", "/a/c:go", "POST /a/{x}:go", ["c"]],
    ["POST", "/a/c:g%6f", "POST /a/{x}:go", ["c"]],
    ["POST", "/a/c%3Ago", "* /a/{rest=**}", ["c:go"]],
    ["GET", "/a/c:go", "GET /a/{x}", ["c:go"]],
    ["GET", "/a/b/c/d", "GET /a/b/c/d", []],
    ["GET", "/%61/%62/c/d", "GET /a/b/c/d", []],
    ["PUT", "/a/b/c/d", "* /a/{rest=**}", ["b/c/d"]],
    ["PUT", "/z/b/c%2Fd/e%20f", "PUT /{x}/b/{y=**}", ["z", "c%2Fd/e f"]],
    ["PUT", "/z/b/c%2fd%252F", "PUT /{x}/b/{y=**}", ["z", "c%2fd%2F"]],
    ["WEBSOCKET", "/a/live", "WEBSOCKET /a/live", []],
    ["GET", "/", undefined, []],
    ["GET", "/b", undefined, []],
  ];
  for (const [method, path, route, captures] of rows) {
    const found = table.match(method, path);
    assert.equal(found?.value, route, `${method} ${path}`);
    assert.deepEqual(found?.captures ?? [], captures, `${method} ${path}`);
  }
});

test("add() replaces a route with the same method, shape and verb", () => {
  const table = tableOf([
    "GET /a%2Fb",
    "GET /a%2fb",
    "GET /v/{x}",
    "GET /v/{y=*}",
    "GET /c",
    "GET /c",
  ]);
  assert.equal(table.match("GET", "/a%2Fb")?.value, "GET /a%2fb");
  assert.equal(table.match("GET", "/v/1")?.value, "GET /v/{y=*}");
});

test("methodsAt() lists every method of every route at a path, in sorted order", () => {
  const table = tableOf(["PUT /a/b", "GET /a/{x}", "POST /a/{x}:go", "DELETE /a/{x=**}"]);
  assert.deepEqual(table.methodsAt("/a/b"), ["DELETE", "GET", "PUT"]);
  assert.deepEqual(table.methodsAt("/a/b:go"), ["DELETE", "GET", "POST"]);
  assert.deepEqual(table.methodsAt("/a"), ["DELETE"]);
  assert.deepEqual(table.methodsAt("/b"), []);
});

test("match() returns the decoded variables of the path", () => {
  const table = tableOf(["GET /v1/{one}/x/{two=a/*}/{rest=**}"]);
  const text = fc.string({ minLength: 1, unit: "grapheme" });
  fc.assert(
    fc.property(text, text, fc.array(text, { minLength: 1 }), (one, two, rest) => {
      const encode = (text: string): string =>
        encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${hexOf(char)}`);
      const path = `/v1/${encode(one)}/x/a/${encode(two)}/${rest.map(encode).join("/")}`;
      const kept = (text: string): string => text.replaceAll("/", "%2F");
      assert.deepEqual(table.match("GET", path)?.captures, [
        one,
        `a/${kept(two)}`,
        rest.map(kept).join("/"),
      ]);
    }),
    { numRuns: 500 },
  );
});

function hexOf(char: string): string {
  return char.charCodeAt(0).toString(16).toUpperCase();
}

test("match() finds the same route as a linear search in tables of random routes", () => {
  const segment = fc.constantFrom("a", "b", "ab", "ba", "*");
  const template = fc
    .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.boolean(), fc.boolean())
    .map(([parts, rest, verb]) => `/${parts.join("/")}${rest ? "/**" : ""}${verb ? ":v" : ""}`);
  const path = fc
    .tuple(fc.array(fc.constantFrom("a", "b", "ab", "ba", "c"), { maxLength: 6 }), fc.boolean())
    .map(([parts, verb]) => `/${parts.join("/")}${verb ? ":v" : ""}`);
  fc.assert(
    fc.property(fc.array(template, { minLength: 1, maxLength: 30 }), path, (templates, path) => {
      const table = tableOf(templates.map((template) => `GET ${template}`));
      const expected = templates.filter((template) => matches(template, path));
      const found = table.match("GET", path)?.value.slice(4);
      if (found === undefined) assert.deepEqual(expected, []);
      else assert.equal(expected.toSorted(bySpecificity)[0], found);
    }),
    { numRuns: runs(10_000) },
  );
});

/**
 * Matches a path with a regular expression. The paths here have no empty segments except at the
 * end.
 */
function matches(template: string, path: string): boolean {
  const pattern = template
    .replaceAll("/**", "(?:/.+|/)?")
    .replaceAll("/*", template.endsWith(":v") ? "/[^/]+?" : "/[^/]+");
  return new RegExp(`^${pattern}$`).test(path);
}

/**
 * Compares routes: verbs first, then segment by segment in the order of a literal, *, the end and
 * **.
 */
function bySpecificity(one: string, other: string): number {
  return keyOf(one) < keyOf(other) ? -1 : 1;
}

function keyOf(template: string): string {
  const [path = "", verb] = template.split(":");
  const ranks = path
    .slice(1)
    .split("/")
    .map((segment) => (segment === "**" ? "3" : segment === "*" ? "2" : "1"));
  const rank = ranks.at(-1) === "3" ? ranks.join("") : `${ranks.join("")}0`;
  return `${verb === undefined ? "1" : "0"}${rank}`;
}

test("match() takes linear time for a path of 64,000 slashes, colons or escapes", () => {
  const table = tableOf([
    "GET /a/{x=**}:go",
    "GET /a/{x=**}",
    "GET /{a}/{b}/{c}/{d}",
    "GET /a/b/c",
  ]);
  for (const part of ["/", "/a", ":", ":go/", "%2F", "a"]) {
    assertLinear(part, 8_000, {
      input: (size) => `/a/b${part.repeat(size)}`,
      run: (path) => {
        assert.ok(table.match("GET", path) !== undefined, part);
        assert.equal(table.match("PUT", path), undefined);
        table.methodsAt(path);
      },
    });
  }
});
