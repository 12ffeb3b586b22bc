import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import { shareOf } from "./log.ts";
import { prettyLine } from "./pretty-line.ts";

/** Runs statements with `createLog` in a process; returns its lines on standard error. */
function linesOf(statements: string): string[] {
  const program = `import { createLog } from ${JSON.stringify(resolve(import.meta.dirname, "log.ts"))};${statements}`;
  const { stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  return stderr.trimEnd().split("\n");
}

test("a line has the level as a word, the time, the event, and the fields of its call", () => {
  const [line = ""] = linesOf(`
    const log = createLog("info", { fields: () => ({ requestId: "r", traceId: "t" }) });
    log.child({ jobId: "j" }).warn({ ms: 3, requestId: "own" }, "job.slow");
    log.debug("not.written");`);
  const { time, ...fields } = JSON.parse(line);
  assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const expected = { level: "warn", jobId: "j", requestId: "own", traceId: "t", ms: 3 };
  assert.deepEqual(fields, { ...expected, event: "job.slow" });
});

test("the pretty format is for people", () => {
  const [line = ""] = linesOf(`createLog("info", { format: "pretty" }).info({ ms: 3 }, "a.b");`);
  assert.match(line, /^\d\d:\d\d:\d\d\.\d{3} INFO  a\.b ms=3$/);
});

test("a sampled log writes all lines of a share of the calls and jobs, and every warning", () => {
  const lines = linesOf(`
    let requestId;
    const fields = () => (requestId === undefined ? {} : { requestId });
    const log = createLog("info", { fields, sample: 0.25 });
    log.info("service.ready");
    for (let at = 0; at < 400; at += 1) {
      requestId = "request-" + at;
      log.info({ at }, "first");
      log.info({ at }, "second");
      if (at < 10) log.warn({ at }, "warning");
    }
    requestId = undefined;
    for (let at = 0; at < 400; at += 1) log.info({ jobId: "job-" + at }, "job.started");`);
  const events = lines.map((line) => JSON.parse(line));
  const atOf = (name: string) => events.filter(({ event }) => event === name).map(({ at }) => at);
  assert.equal(atOf("service.ready").length, 1);
  assert.equal(atOf("warning").length, 10);
  assert.deepEqual(atOf("first"), atOf("second"));
  for (const name of ["first", "job.started"]) {
    const count = atOf(name).length;
    assert.ok(count > 60 && count < 140, `${name}: ${count} of 400`);
  }
});

test("shareOf() is the same for the same text, and spreads similar ones evenly", () => {
  assert.equal(shareOf("a"), shareOf("a"));
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let at = 0; at < 10_000; at += 1) {
    const tenth = Math.floor(shareOf(`01998f2e-7c1a-7c35-9d54-${at}`) * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  for (const count of tenths) assert.ok(count > 800 && count < 1_200, tenths.join(" "));
});

for (const [line, pretty] of [
  [
    `{"level":"info","time":"2026-11-28T09:00:01.002Z","a":"b c","n":1,"event":"x.y"}`,
    `09:00:01.002 INFO  x.y a="b c" n=1\n`,
  ],
  [
    `{"level":"error","time":"2026-11-28T09:00:01.002Z","stack":"Error: a\\n    at b","event":"x"}`,
    "09:00:01.002 ERROR x\n    Error: a\n    at b\n",
  ],
  [
    `{"level":"warn","time":"2026-11-28T09:00:01.002Z","a":"\\u001b[2J","event":"x"}`,
    "09:00:01.002 WARN  x a=?[2J\n",
  ],
] as const) {
  test(`prettyLine() of ${line}`, () => {
    assert.equal(prettyLine(line), pretty);
  });
}
