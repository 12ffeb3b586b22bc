import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear } from "../../test/fixtures/growth.ts";
import { mutated } from "../../test/fixtures/mutated.ts";
import { Vectors } from "../../test/gen/transcoding_pb.ts";
import { runs } from "../../test/fixtures/property-runs.ts";
import { readServiceConfig, type ServiceConfig, ServiceConfigError } from "./service-config.ts";
import { createTranscoder } from "./transcoder.ts";

function read(text: string): ServiceConfig {
  return readServiceConfig(text, { file: "rules.yaml", services: [Vectors] });
}

function problemsOf(text: string): readonly string[] {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof ServiceConfigError, String(error));
    return error.problems;
  }
  return assert.fail(`${text.slice(0, 200)} was read`);
}

const echo = "vectors.v1.Vectors.Echo";

test("readServiceConfig() reads a service configuration in YAML and in JSON", () => {
  const yaml = `
# A whole service configuration, as other gateways take it.
type: google.api.Service
config_version: 3
name: vectors.example
apis: [{ name: vectors.v1.Vectors }]
documentation: { summary: yes }
http:
  fully_decode_reserved_expansion: true
  rules:
    - selector: ${echo}
      get: /v1/{name=things/*}:on
      response_body: sub
      additional_bindings:
        - post: "/v1/things"
          body: '*'
        - custom: { kind: "*", path: /any }
    - selector: "another.Service.*"
      get: something else
`;
  const rules = [
    {
      selector: echo,
      get: "/v1/{name=things/*}:on",
      response_body: "sub",
      additional_bindings: [
        { post: "/v1/things", body: "*" },
        { custom: { kind: "*", path: "/any" } },
      ],
    },
    { selector: "another.Service.*", get: "something else" },
  ];
  const http = {
    fullyDecodeReservedExpansion: true,
    rules: rules.map(({ response_body, ...rule }) => ({
      ...rule,
      ...(response_body && { responseBody: response_body }),
      body: null,
    })),
  };
  for (const text of [
    yaml,
    JSON.stringify({ http }),
    `\ufeff${JSON.stringify({ type: "x", http }, undefined, "\t")}\n`,
    yaml.replaceAll("\n", "\r\n"),
  ]) {
    const config = read(text);
    assert.equal(config.fullyDecodeReservedExpansion, true);
    assert.deepEqual(config.rules, rules);
    const { bindings } = createTranscoder([Vectors], { rules: config.rules });
    assert.deepEqual(
      bindings.map(({ httpMethod, template }) => `${httpMethod} ${template}`),
      ["GET /v1/{name=things/*}:on", "POST /v1/things", "* /any"],
    );
  }
  for (const text of ["http:", "http: {}", "http: {rules: }", '{"http":{"rules":[]}}']) {
    const config = read(text);
    assert.deepEqual([config.rules, config.fullyDecodeReservedExpansion], [[], false]);
  }
});

test("readServiceConfig() reports the place of every problem", () => {
  const text = `http:
  fully_decode_reserved_expansion: yes
  rules:
    - selector: ${echo}
      get: /v1/{s
      boddy: "*"
      additional_bindings:
        - post: "/v1/things"
          body: nope
        - get: '/{rs}/{name}/{sub.nope}'
        - get: "/\\u0061/{x}"
        - get: >-
            /{x}
        - put: /a
          patch: /b
        - custom: HEAD
        - {}
        - get: /x
          additional_bindings: [{ get: /y }]
    - selector: 5
      get: /a//b
    - get: /x
    - selector: "*"
      delete: [/x]
      response_body: {}
    - /v1/x
    - selector: ${echo}
      get: a
  rules: []
Http: {}
`;
  assert.deepEqual(problemsOf(text), [
    'rules.yaml:2:36: fully_decode_reserved_expansion: expected true or false, found "yes"',
    'rules.yaml:5:18: path template "/v1/{s", column 7: expected ".", "=" or "}", found the end of the template',
    'rules.yaml:6:7: expected one of selector, get, put, post, delete, patch, custom, body, response_body, additional_bindings, found "boddy"',
    'rules.yaml:9:17: "nope" is not a top-level field of vectors.v1.M',
    'rules.yaml:10:19: variable "rs" of "/{rs}/{name}/{sub.nope}": it is repeated',
    'rules.yaml:10:31: variable "sub.nope" of "/{rs}/{name}/{sub.nope}": M has no field "nope"',
    // A text that is written with escapes gets the position of its beginning.
    'rules.yaml:11:16: variable "x" of "/a/{x}": M has no field "x"',
    'rules.yaml:12:16: variable "x" of "/{x}": M has no field "x"',
    'rules.yaml:15:11: expected one pattern, found "patch" in addition to "put"',
    'rules.yaml:16:19: custom: expected a map with kind and path, found "HEAD"',
    "rules.yaml:17:11: it has no pattern (get, post, ..., custom)",
    "rules.yaml:19:32: additional_bindings cannot have additional_bindings",
    "rules.yaml:20:17: selector: expected a string, found 5",
    "rules.yaml:22:7: it has no selector",
    "rules.yaml:24:15: delete: expected a string, found a list",
    "rules.yaml:25:22: response_body: expected a string, found a map",
    'rules.yaml:26:7: expected a rule, found "/v1/x"',
    'rules.yaml:28:12: path template "a", column 1: expected "/", found "a"',
    'rules.yaml:29:3: expected each name once, found "rules" again',
  ]);
  const json = `{"http": {"rules": [\n  {"selector": "${echo}", "get": "/x", "body": 1, "responseBody": "s", "response_body": "s"},\n]}}`;
  assert.deepEqual(problemsOf(json.replace("},\n", "}\n")), [
    "rules.yaml:2:64: body: expected a string, found 1",
    'rules.yaml:2:88: expected each name once, found "response_body" in addition to response_body',
  ]);
});

test("readServiceConfig() refuses YAML features that rules do not need", () => {
  const rows: [text: string, problems: (string | RegExp)[]][] = [
    ["", ['rules.yaml:1:1: expected a map with "http", found nothing']],
    ["# nothing\n", ['rules.yaml:1:1: expected a map with "http", found nothing']],
    ["5", ['rules.yaml:1:1: expected a map with "http", found 5']],
    ["- http", ['rules.yaml:1:1: expected a map with "http", found a list']],
    ["type: x", ['rules.yaml:1:1: expected a map with "http", found a map']],
    [
      "type: x\nrules: []",
      ['rules.yaml:2:1: expected a map with "http", found "rules" outside of it'],
    ],
    ["http: /x", ['rules.yaml:1:7: http: expected a map, found "/x"']],
    ["http: {rules: {}}", ["rules.yaml:1:15: rules: expected a list, found a map"]],
    ["http: {rule: []}", [/^rules.yaml:1:8: expected one of rules, .*, found "rule"$/]],
    ["http: {}\nhttp: {}", ['rules.yaml:2:1: expected each name once, found "http" again']],
    ["x: {a: 1, a: 2}\nhttp:", ['rules.yaml:1:11: expected each name once, found "a" again']],
    ["http: {}\n---\nhttp: {}", ["rules.yaml:2:1: expected one document, found another"]],
    ["http: !!map {}", ['rules.yaml:1:13: expected no tag, found "tag:yaml.org,2002:map"']],
    ["x: !foo bar\nhttp:", ['rules.yaml:1:9: expected no tag, found "!foo"']],
    ["%YAML 1.1\n---\nhttp:", ["rules.yaml:1:1: expected no directive, found %YAML 1.1"]],
    ["1: x\n? [a]\n: y\nhttp:", [/:1:1: expected a name, found 1$/, /:2:3: .* found a list$/]],
    ["http: {rules: [", [/^rules.yaml:1:16: not valid YAML: /]],
    ["http:\n\trules: []", [/^rules.yaml:2:1: not valid YAML: Tabs/, /found nothing|./]],
    [
      "http: *x",
      [/^rules.yaml:1:7: expected an anchor before its alias "x"; a "\*" needs quotes$/],
    ],
    [
      "http: &x [*x]",
      [/:1:10: http: expected a map/, /^rules.yaml:1:11: expected an anchor before/],
    ],
    [
      `http: {rules: [{selector: *, get: /x}]}`,
      ['rules.yaml:1:27: expected a value, found "*" without quotes'],
    ],
    [
      `x: ${"[".repeat(100)}${"]".repeat(100)}\nhttp:`,
      [/^rules.yaml:1:68: it nests deeper than 64/],
    ],
    [`x: ${"[".repeat(1e5)}\nhttp:`, [/nests deeper than 64/]],
  ];
  for (const [text, expected] of rows) {
    const problems = problemsOf(text);
    for (const [index, one] of expected.entries()) {
      const found = problems[index] ?? "none";
      if (typeof one === "string") assert.equal(found, one, text.slice(0, 80));
      else assert.match(found, one, text.slice(0, 80));
    }
  }
});

test("readServiceConfig() follows aliases, and counts the nodes to which they refer", () => {
  const text = `
x: &binding { get: /shared }
http:
  rules:
    - selector: vectors.v1.Vectors.Echo
      get: /x
      additional_bindings: &all [*binding, { put: /y }]
    - { selector: vectors.v1.Vectors.Other, get: /z, additional_bindings: *all }
`;
  assert.deepEqual(read(text).rules, [
    { selector: echo, get: "/x", additional_bindings: [{ get: "/shared" }, { put: "/y" }] },
    {
      selector: "vectors.v1.Vectors.Other",
      get: "/z",
      additional_bindings: [{ get: "/shared" }, { put: "/y" }],
    },
  ]);
  // Each level repeats the previous level a hundred times, so a short file has a million bindings.
  const list = (item: string): string => `[${`${item},`.repeat(100)}]`;
  const bomb = `
x: &a { get: /a }
y: &b ${list("*a")}
z: &c { selector: "*", get: /x, additional_bindings: *b }
http: { rules: &d ${list("*c")} }
w: [${"[".repeat(50)}${list("*d")}${"]".repeat(50)}]
`;
  const more = bomb.replace("rules: &d [", `rules: &d [${"*c,".repeat(100)}`);
  assert.equal(
    problemsOf(more)[0],
    "rules.yaml:2:7: expected at most 1000 rules and additional bindings, found more",
  );
});

test("readServiceConfig() takes linear time for any file", () => {
  const rules = (count: number, rule: (index: number) => string): string =>
    `http: {rules: [${Array.from({ length: count }, (_, index) => rule(index)).join(",\n ")}]}`;
  const one = (template: string): string =>
    `http: {rules: [{selector: ${echo}, get: "${template}"}]}`;
  const files: [name: string, size: number, file: (size: number) => string][] = [
    ["rules", 250, (n) => rules(n, (at) => `{selector: a.b${at}, get: /a/{name=x/*}}`)],
    ["one selector", 250, (n) => rules(n, (at) => `{selector: ${echo}, get: /a${at}/{s}}`)],
    ["bad rules", 250, (n) => rules(n, (at) => `{selector: ${echo}, gat: "/a${at}/{s", pot: 5}`)],
    [
      "names",
      1000,
      (n) => `${rules(0, String)}\n${Array.from({ length: n }, (_, at) => `n${at}: x`).join("\n")}`,
    ],
    ["variables", 2000, (n) => one(Array.from({ length: n }, (_, at) => `/{v${at}}`).join(""))],
    ["one variable", 8000, (n) => one("/{s}".repeat(n))],
    ["field path", 8000, (n) => one(`/{${"sub.".repeat(n)}s}`)],
    ["segments", 8000, (n) => one("/a".repeat(n))],
    ["slashes", 8000, (n) => one("/".repeat(n))],
    ["stars", 8000, (n) => one("/*".repeat(n))],
    ["literal", 16_000, (n) => one(`/${"a%20".repeat(n)}`)],
    ["braces", 16_000, (n) => one(`/${"{".repeat(n)}`)],
    ["brackets", 4000, (n) => `http: ${"[".repeat(n)}`],
    ["dashes", 4000, (n) => `http: ${"- ".repeat(n)}`],
    ["aliases", 1000, (n) => `x: &a {get: /x}\ny: [${"*a,".repeat(n)}]\nhttp:`],
    ["garbage", 16_000, (n) => "}:,".repeat(n)],
  ];
  for (const [name, size, input] of files) {
    assertLinear(name, size, {
      input,
      run: (text) => {
        try {
          const { rules } = read(text);
          createTranscoder([Vectors], { rules });
        } catch (error) {
          assert.ok(error instanceof ServiceConfigError, `${name}: ${String(error)}`);
        }
      },
    });
  }
  assert.match(problemsOf("#".repeat((1 << 20) + 1))[0] ?? "", /at most 1048576 characters/);
});

test("readServiceConfig() throws only ServiceConfigError, and returns only rules that the transcoder accepts", () => {
  const good = fc.constantFrom(
    `http:\n  rules:\n    - selector: ${echo}\n      get: /v1/{name=x/*}\n      body: "*"\n    - {selector: '*', custom: {kind: "*", path: "/{s}:do"}}\n`,
    `a: &x /y\nhttp: {fully_decode_reserved_expansion: true, rules: [{selector: ${echo}, put: *x}]}`,
    JSON.stringify({
      http: {
        rules: [{ selector: echo, patch: "/x", additional_bindings: [{ get: "/{sub.s}" }] }],
      },
    }),
    `http:\n  rules:\n  - selector: ${echo}\n    get: >-\n      /v1/\n    body: |\n      item\n`,
  );
  const pieces = [
    "\n",
    "\n  ",
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    ",",
    '"',
    "'",
    "*",
    "&x ",
    "*x",
    "!a ",
    "#",
    "%",
    "|",
    ">",
    "\\",
    "\t",
    "\u0000",
    "\ufeff",
    "---\n",
    "null",
    "get",
    "<<: ",
    "? ",
    "þ",
    "\ud800",
    "~",
    "1",
  ];
  const counts = { read: 0, refused: 0 };
  fc.assert(
    fc.property(
      fc.oneof({ weight: 9, arbitrary: mutated(good, pieces) }, fc.string({ unit: "binary" })),
      (text) => {
        let config;
        try {
          config = read(text);
        } catch (error) {
          assert.ok(error instanceof ServiceConfigError, String(error));
          const places = error.problems.filter((problem) =>
            /^rules\.yaml:\d+:\d+: \S/.test(problem),
          );
          assert.ok(places.length > 0 && places.length === error.problems.length, error.message);
          counts.refused++;
          return;
        }
        const { bindings } = createTranscoder([Vectors], config);
        for (const { spot } of bindings)
          assert.match(config.placeOf(spot), /^rules\.yaml:\d+:\d+$/);
        counts.read++;
      },
    ),
    { numRuns: runs(10_000) },
  );
  assert.ok(counts.read > runs(1_000) && counts.refused > runs(1_000), JSON.stringify(counts));
});
