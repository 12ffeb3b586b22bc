// Tests that long paths, queries and bodies take time in proportion to their length, and that
// deeply nested bodies are refused early.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { anyTranscoder, outcome } from "../../test/fixtures/any-transcoder.ts";
import { assertLinear } from "../../test/fixtures/growth.ts";
import { ServiceError } from "../std/service-error.ts";

function run([method, target, body]: readonly [string, string, Buffer?]): number {
  const found = outcome(() => anyTranscoder.bind(anyTranscoder.route(method, target), body));
  return typeof found === "number" ? found : 200;
}

type Row = readonly [name: string, status: number, input: (size: number) => string];

test("paths of any shape are processed in linear time", () => {
  const rows: readonly Row[] = [
    ["slashes", 404, (n) => `/m${"/".repeat(n)}`],
    ["slashes alone", 404, (n) => "/".repeat(n)],
    ["many segments", 200, (n) => `/m/a/1/a${"/a".repeat(n)}`],
    ["empty segments under **", 200, (n) => `/m/a/1/a/b${"/".repeat(n)}`],
    ["one long segment", 200, (n) => `/m/${"a".repeat(n)}/1/a`],
    ["escapes", 200, (n) => `/m/${"%41".repeat(n)}/1/a`],
    ["escaped slashes", 200, (n) => `/m/a/1/a/${"%2F".repeat(n)}`],
    ["bad escapes", 400, (n) => `/m/${"%".repeat(n)}`],
    ["escapes that are not UTF-8", 400, (n) => `/m/${"%C3".repeat(n)}`],
    ["bytes of UTF-8", 405, (n) => `/m/${"\u00c3\u00be".repeat(n)}`],
    ["bytes that are not UTF-8", 400, (n) => `/m/${"\u00ff".repeat(n)}`],
    ["colons", 405, (n) => `/m/${":".repeat(n)}`],
    ["verbs", 404, (n) => `/m/a/${":do/".repeat(n)}`],
    ["dots", 404, (n) => "/..".repeat(n)],
    ["a host", 400, (n) => `http://${"a".repeat(n)}`],
    ["a host and slashes", 404, (n) => `http://a/${"/".repeat(n)}`],
  ];
  for (const [name, status, input] of rows) {
    const found = assertLinear(name, 64_000, { input, run: (target) => run(["GET", target]) });
    assert.equal(found, status, name);
  }
});

test("queries of any shape are processed in linear time", () => {
  const rows: readonly Row[] = [
    ["no pairs", 200, (n) => "&".repeat(n)],
    ["unknown names", 400, (n) => "a&".repeat(n / 2)],
    [
      "many unknown names",
      400,
      (n) => Array.from({ length: n / 8 }, (_, at) => `a${at}=1`).join("&"),
    ],
    ["system parameters", 200, (n) => "key=a&$x=b&".repeat(n / 11)],
    ["one name", 400, (n) => "s=a&".repeat(n / 4)],
    ["one list", 200, (n) => "rs=a&".repeat(n / 5)],
    ["one list of numbers", 200, (n) => "ri=1&".repeat(n / 5)],
    ["one list that is wrong", 400, (n) => "ri=a&".repeat(n / 5)],
    ["one list of bytes", 200, (n) => "rby=AA&".repeat(n / 7)],
    ["one list of times", 200, (n) => "rdur=1s&".repeat(n / 8)],
    ["a deep list", 200, (n) => `${"sub.".repeat(60)}rs=a&`.repeat(n / 245)],
    ["a long value", 200, (n) => `s=${"a".repeat(n)}`],
    ["a value of escapes", 200, (n) => `s=${"%41".repeat(n / 3)}`],
    ["a value of spaces", 200, (n) => `s=${"+".repeat(n)}`],
    ["a value of bad escapes", 400, (n) => `s=${"%".repeat(n)}`],
    ["a value of bytes", 200, (n) => `s=${"\u00c3\u00be".repeat(n / 2)}`],
    ["a long number", 400, (n) => `i32=${"1".repeat(n)}`],
    ["a long big number", 400, (n) => `i64=${"1".repeat(n)}`],
    ["long base64", 200, (n) => `by=${"AAAA".repeat(n / 4)}`],
    ["long bad base64", 400, (n) => `by=${"A".repeat(n)}!`],
    ["a long duration", 400, (n) => `dur=${"1".repeat(n)}s`],
    ["a long mask", 400, (n) => `mask=${"aB,".repeat(n / 3)}a`],
    ["a long enum", 400, (n) => `e=${"1".repeat(n)}`],
    ["a deep name", 400, (n) => `${"sub.".repeat(n / 4)}s=x`],
    ["a name of dots", 400, (n) => `${".".repeat(n)}=x`],
    ["a long name", 400, (n) => `${"a".repeat(n)}=x`],
    ["a name of escapes", 400, (n) => `${"%41".repeat(n / 3)}=x`],
    ["equals signs", 400, (n) => "=".repeat(n)],
  ];
  for (const [name, status, input] of rows) {
    const target = (size: number): string => `/q?${input(size)}`;
    const found = assertLinear(name, 8_192, {
      input: target,
      run: (target) => run(["GET", target]),
    });
    assert.equal(found, status, name);
  }
});

test("bodies of any shape are processed in linear time", () => {
  const list = (n: number, item: string): string =>
    `[${`${item},`.repeat(n / (item.length + 1))}${item}]`;
  const members = (n: number, member: (at: number) => string): string =>
    `{${Array.from({ length: n / 16 }, (_, at) => member(at)).join(",")}}`;
  const rows: readonly Row[] = [
    ["numbers", 200, (n) => `{"ri":${list(n, "0")}}`],
    ["messages", 200, (n) => `{"items":${list(n, "{}")}}`],
    ["messages with text", 200, (n) => `{"items":${list(n, '{"id":"a","tags":["b"]}')}}`],
    ["wrong messages", 400, (n) => `{"items":${list(n, "5")}}`],
    ["bytes", 200, (n) => `{"rby":${list(n, '"AQI="')}}`],
    ["timestamps", 200, (n) => `{"rts":${list(n, '"2026-11-20T10:11:12Z"')}}`],
    ["a map", 200, (n) => `{"labels":${members(n, (at) => `"k${at}":"v"`)}}`],
    ["a map of numbers", 200, (n) => `{"im":${members(n, (at) => `"${at}":${at}`)}}`],
    ["a map of messages", 200, (n) => `{"mi":${members(n, (at) => `"${at}":{}`)}}`],
    ["one name", 200, (n) => `{${'"s":"a",'.repeat(n / 8)}"s":"b"}`],
    ["unknown names", 400, (n) => members(n, (at) => `"f${at}":1`)],
    ["a struct", 200, (n) => `{"st":${members(n, (at) => `"k${at}":[{}]`)}}`],
    ["a value", 200, (n) => `{"val":${list(n, '[1,"a",null]')}}`],
    [
      "an any",
      200,
      (n) => `{"any":{"@type":"type.googleapis.com/vectors.v1.M","ri":${list(n, "0")}}}`,
    ],
    [
      "an any that is wrong",
      400,
      (n) => `{"any":{"@type":"x/vectors.v1.M","ri":${list(n, '"x"')}}}`,
    ],
    ["a long text", 200, (n) => `{"s":"${"a".repeat(n)}"}`],
    ["a text of escapes", 200, (n) => `{"s":"${"\\n".repeat(n / 2)}"}`],
    ["a text of backslashes", 400, (n) => `{"s":"${"\\".repeat(n)}`],
    ["a text of quotes", 200, (n) => `{"s":"${'\\"'.repeat(n / 2)}"}`],
    ["a long name", 400, (n) => `{"${"a".repeat(n)}":1}`],
    ["a long number", 400, (n) => `{"i64":"${"1".repeat(n)}"}`],
    ["a long bare number", 400, (n) => `{"d":${"1".repeat(n)}}`],
    ["a long mask", 400, (n) => `{"mask":"${"aB,".repeat(n / 3)}a"}`],
    ["a long mask with _", 400, (n) => `{"mask":"${"a_b,".repeat(n / 4)}a"}`],
    ["spaces", 400, (n) => " ".repeat(n)],
    ["lines", 400, (n) => `${"\n".repeat(n)}]`],
    ["quotes", 400, (n) => '"'.repeat(n)],
    ["commas", 400, (n) => `[${",".repeat(n)}`],
    ["closed before it is open", 400, (n) => "]".repeat(n)],
    ["closed, then open", 400, (n) => "]".repeat(n / 2) + "[".repeat(n / 2)],
    ["text after the end", 400, (n) => `{}${"{}".repeat(n / 2)}`],
  ];
  /** Objects with thousands of names, which V8 stores differently from small objects. */
  const manyNames = new Set([
    "a map",
    "a map of numbers",
    "a map of messages",
    "a struct",
    "unknown names",
  ]);
  for (const [name, status, input] of rows) {
    const body = (size: number): Buffer => Buffer.from(input(size));
    const found = assertLinear(name, 8_192, {
      input: body,
      run: (body) => run(["POST", "/all", body]),
      baseline: manyNames.has(name) ? (body) => JSON.parse(body.toString()) : undefined,
    });
    assert.equal(found, status, name);
  }
  assertLinear("update mask", 16_384, {
    input: (n) => Buffer.from(members(n, (at) => `"labels":{"${at}":"x"}`)),
    run: (body) => run(["PATCH", "/sub", body]),
  });
});

test("JSON that nests deeper than 64 levels is refused in linear time, in every type of field", () => {
  const deep: readonly [string, string][] = [
    ["[", "]"],
    ['{"a":', "}"],
    ['{"sub":', "}"],
    ['[{"a":', "}]"],
    ["[ \n", "]"],
    ['{"fields":{"a":{"structValue":', "}}}"],
  ];
  const holders = [
    "",
    '{"st":{"a":',
    '{"val":',
    '{"lv":[',
    '{"sub":',
    '{"items":[{"child":',
    '{"any":{"@type":"type.googleapis.com/vectors.v1.M","val":',
    '{"any":{"@type":"type.googleapis.com/google.protobuf.Struct","value":',
    `{"s":"${"[".repeat(1e5)}","val":`,
  ];
  for (const holder of holders) {
    for (const [open, close] of deep) {
      for (const end of ["", close]) {
        const body = (levels: number): Buffer =>
          Buffer.from(`${holder}${open.repeat(levels)}${end.repeat(levels)}`);
        refuseDeep(body(70));
        const levels = Math.ceil(500_000 / open.length);
        assertLinear(`${holder.slice(0, 60)}${open}`, levels, { input: body, run: refuseDeep });
      }
    }
  }
});

function refuseDeep(body: Buffer): void {
  assert.throws(
    () => anyTranscoder.bind(anyTranscoder.route("POST", "/all"), body),
    (error) => error instanceof ServiceError && /deeper than 64 levels/.test(error.message),
  );
}

test("64 levels of nesting are accepted in messages, Struct and Any", () => {
  const nested = (open: string, leaf: string, close: string, levels: number): string =>
    open.repeat(levels) + leaf + close.repeat(levels);
  const bodies: readonly string[] = [
    nested('{"sub":', "{}", "}", 63),
    `{"val":${nested("[", "1", "]", 63)}}`,
    `{"val":${nested('{"a":', "1", "}", 63)}}`,
    `{"st":${nested('{"a":', "1", "}", 63)}}`,
    `{"any":{"@type":"type.googleapis.com/google.protobuf.Value","value":${nested("[", "1", "]", 62)}}}`,
    `{"any":${nested('{"@type":"type.googleapis.com/google.protobuf.Any","value":', "{}", "}", 62)}}`,
  ];
  for (const body of bodies)
    assert.equal(run(["POST", "/all", Buffer.from(body)]), 200, body.slice(0, 80));
});
