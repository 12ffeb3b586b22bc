import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/fixtures/property-runs.ts";
import { readConfig } from "../config.ts";
import type { Setting } from "../std/setting.ts";
import { parseConfigFile, readConfigFile } from "./config-file.ts";

const setting = (name: string, more: Partial<Setting<unknown>> = {}): Setting<unknown> => ({
  name,
  meaning: "",
  fallback: "",
  parse: (text) => text,
  ...more,
});
const groups = {
  service: [setting("HLUST_PORT"), setting("HLUST_HOST")],
  callers: [setting("HLUST_ALLOWED_ORIGINS", { isList: true })],
  database: [setting("DATABASE_URL", { secret: true })],
};
const parse = (text: string) => parseConfigFile(text, "hlust.yaml", groups);

test("a configuration file has settings in groups, as values and lists", () => {
  const { given, problems } = parse(`# The settings of this node.
service:
  HLUST_PORT: 0x1F
  HLUST_HOST: "::1"
callers:
  HLUST_ALLOWED_ORIGINS:
    - https://a.example
    - https://b.example
database:
  DATABASE_URL_FILE: /run/secrets/db
`);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    [...given],
    [
      // Numbers are not changed by YAML: the setting refuses what it does not understand.
      ["HLUST_PORT", { text: "0x1F", place: "hlust.yaml:3:15" }],
      ["HLUST_HOST", { text: "::1", place: "hlust.yaml:4:15" }],
      [
        "HLUST_ALLOWED_ORIGINS",
        { text: "https://a.example,https://b.example", place: "hlust.yaml:7:5" },
      ],
      ["DATABASE_URL_FILE", { text: "/run/secrets/db", place: "hlust.yaml:10:22" }],
    ],
  );
  assert.deepEqual(parse("callers:\n  HLUST_ALLOWED_ORIGINS: '*'").problems, []);
  for (const empty of ["", "# nothing\n", "service:\n", "service: {}\n"]) {
    assert.deepEqual(parse(empty).problems, [], empty);
  }
  const unset = parse("service:\n  HLUST_HOST:\n");
  assert.equal(unset.given.get("HLUST_HOST")?.text, "");
});

test("each problem of a configuration file has its line, its column and what is meant", () => {
  const rows: [text: string, problem: string][] = [
    [
      "service:\n  HLUST_PROT: 1",
      "hlust.yaml:2:3: HLUST_PROT is not a setting: did you mean HLUST_PORT?",
    ],
    ["service:\n  PORT: 1", "hlust.yaml:2:3: PORT is not a setting"],
    [
      "servise:\n  HLUST_PORT: 1",
      "hlust.yaml:1:1: servise is not a group of settings: did you mean service?; groups: service, callers, database",
    ],
    ["HLUST_PORT: 1", "hlust.yaml:1:1: HLUST_PORT belongs into the group service"],
    [
      "callers:\n  HLUST_PORT: 1",
      "hlust.yaml:2:3: HLUST_PORT belongs into the group service, not into callers",
    ],
    ["service:\n  HLUST_PORT: [1, 2]", "hlust.yaml:2:15: HLUST_PORT must be one value, not a list"],
    ["service:\n  HLUST_PORT: {a: 1}", "hlust.yaml:2:15: HLUST_PORT must be a value, not a group"],
    [
      "callers:\n  HLUST_ALLOWED_ORIGINS:\n    - a: 1",
      "hlust.yaml:3:7: HLUST_ALLOWED_ORIGINS must be a list of values, each without a comma",
    ],
    [
      "callers:\n  HLUST_ALLOWED_ORIGINS: ['a,b']",
      "hlust.yaml:2:27: HLUST_ALLOWED_ORIGINS must be a list of values, each without a comma",
    ],
    ["- a", "hlust.yaml:1:1: the file must have names with values, such as NAME: value"],
    [
      "service: yes",
      "hlust.yaml:1:10: the group service must have names with values, such as NAME: value",
    ],
    ["service:\n  HLUST_PORT: 1\n  HLUST_PORT: 2", "hlust.yaml:3:3: Map keys must be unique"],
    ["service:\n  HLUST_CONFIG: a.yaml", "hlust.yaml:2:3: HLUST_CONFIG is not a setting"],
    ["service:\n  HLUST_HOST_FILE: a", "hlust.yaml:2:3: HLUST_HOST_FILE is not a setting"],
  ];
  for (const [text, problem] of rows) {
    const { problems } = parse(text);
    assert.ok(problems[0]?.startsWith(problem), `${text}: ${JSON.stringify(problems)}`);
    assert.equal(problems.length, 1, text);
  }
  assert.match(parse('service:\n  HLUST_HOST: "a').problems[0] ?? "", /^hlust.yaml:2:\d+: /);
  assert.equal(parse("a: 1\nb: 2\nservice:\n  c: 3").problems.length, 3, "every problem is named");
});

test("parseConfigFile() reports problems of any text, and never throws", () => {
  const words = ["service:", "HLUST_PORT", ": ", "[", "]", "{", "}", "&a", "*a", "- ", "\n", "  "];
  const text = fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 4 })));
  fc.assert(
    fc.property(text, (parts) => {
      const { given, problems } = parse(parts.join(""));
      for (const problem of problems) assert.match(problem, /^hlust.yaml:\d+:\d+: ./);
      for (const { text: value } of given.values()) assert.equal(typeof value, "string");
    }),
    { numRuns: runs(2_000) },
  );
});

const folder = mkdtempSync(join(tmpdir(), "hlust-config-file-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
let count = 0;
function file(text: string): string {
  count += 1;
  const path = join(folder, `${count}`);
  writeFileSync(path, text);
  return path;
}

test("a configuration file that cannot be read is a problem with its name", () => {
  assert.match(
    readConfigFile("/no/such.yaml", groups).problems.join(),
    /^HLUST_CONFIG: \/no\/such.yaml cannot be read: ENOENT/,
  );
  const long = file(`# ${"a".repeat(1 << 20)}`);
  assert.match(readConfigFile(long, groups).problems.join(), /has \d+ bytes; at most 1 MiB/);
});

test("readConfig() reads HLUST_CONFIG, and the environment comes first", () => {
  const path = file(`
service:
  HLUST_PORT: 9000
  HLUST_KEEP_MEDIA: false
limits:
  HLUST_ACCOUNT_STREAMS: 7
callers:
  HLUST_ALLOWED_ORIGINS: [https://a.example]
`);
  const fromFile = readConfig({ HLUST_CONFIG: path });
  assert.equal(fromFile.port, 9000);
  assert.equal(fromFile.keepMedia, false);
  assert.equal(fromFile.accountLimits.concurrentStreams, 7);
  assert.deepEqual(fromFile.callers.allowedOrigins, ["https://a.example"]);
  const both = readConfig({ HLUST_CONFIG: path, HLUST_PORT: "9001", HLUST_ACCOUNT_STREAMS: "" });
  assert.equal(both.port, 9001);
  assert.equal(both.accountLimits.concurrentStreams, 7, "an empty variable is an unset one");
  const wrong = file("service:\n  HLUST_PORT: http\n  HLUST_DRAIN: 5s\n");
  assert.throws(() => readConfig({ HLUST_CONFIG: wrong, HLUST_ROLE: "boss" }), {
    message: [
      `${wrong}:3:3: HLUST_DRAIN belongs into the group drain, not into service`,
      `${wrong}:2:15: HLUST_PORT must be a whole number from 0 to 65535, not "http"`,
      'HLUST_ROLE must be one of all, api, worker, engine, not "boss"',
    ].join("\n"),
  });
});

test("a setting with several values accepts a list in a file, and no other setting does", () => {
  const lists =
    "  HLUST_ALLOW_MEDIA_FROM: [10.0.0.0/8, a.example]\n  HLUST_ALLOW_WEBHOOKS_TO: [b]\n";
  const models = "models:\n  HLUST_MODEL_CHOICE: [is-IS=a, 'en-US:live=b']\n";
  const { allowMediaFrom, allowWebhooksTo, modelChoice } = readConfig({
    HLUST_CONFIG: file(`service:\n${lists}${models}`),
  });
  assert.deepEqual([allowMediaFrom, allowWebhooksTo], [["10.0.0.0/8", "a.example"], ["b"]]);
  assert.equal(modelChoice.length, 2);
  assert.throws(
    () => readConfig({ HLUST_CONFIG: file("service:\n  HLUST_HOST: [a, b]\n") }),
    /:2:15: HLUST_HOST must be one value, not a list/,
  );
});
