import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { openTestStreams, token } from "../../test/fixtures/open-test-streams.ts";
import { until } from "../../test/fixtures/until.ts";
import { ServiceError } from "../std/service-error.ts";
import { callTimeoutMs } from "./call-timeout.ts";

const withToken = { authorization: `Bearer ${token}` };

test("callTimeoutMs() reads both headers and uses the shorter timeout", async () => {
  const found: unknown[] = [];
  const server = createServer((request, response) => {
    try {
      found.push(callTimeoutMs(request));
    } catch (error) {
      found.push(error instanceof ServiceError ? error.reason : error);
    }
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  const malformed = "MALFORMED_TIMEOUT";
  const rows: [grpc: string | undefined, seconds: string | undefined, ms: unknown][] = [
    [undefined, undefined, undefined],
    ["2H", undefined, 7_200_000],
    ["3M", undefined, 180_000],
    ["4S", undefined, 4_000],
    ["1500m", undefined, 1_500],
    ["1500u", undefined, 1.5],
    ["0n", undefined, 0],
    // The maximum delay of a Node timer.
    ["99999999H", undefined, 2 ** 31 - 1],
    [undefined, "1.5", 1_500],
    [undefined, "0", 0],
    [undefined, "999999999", 2 ** 31 - 1],
    ["4S", "1.5", 1_500],
    ["1S", "1.5", 1_000],
    ["100000000S", undefined, malformed],
    ["1s", undefined, malformed],
    ["-1S", undefined, malformed],
    ["S", undefined, malformed],
    ["1.5S", undefined, malformed],
    ["", undefined, malformed],
    [undefined, "soon", malformed],
    [undefined, "1e3", malformed],
    [undefined, "-1", malformed],
    [undefined, "Infinity", malformed],
    ["1S", "1s", malformed],
  ];
  for (const [grpc, seconds] of rows) {
    const headers: Record<string, string> = {};
    if (grpc !== undefined) headers["grpc-timeout"] = grpc;
    if (seconds !== undefined) headers["x-server-timeout"] = seconds;
    await fetch(`http://127.0.0.1:${address.port}`, { headers });
  }
  server.close();
  assert.deepEqual(
    found,
    rows.map(([, , ms]) => ms),
  );
});

test("a call that exceeds its client's deadline gets 504, whether or not its method stops", async () => {
  await using server = await openTestStreams();
  for (const atEnd of ["hang", "deaf"]) {
    for (const path of ["wait", "count/1", "files", "file"]) {
      const headers = { ...withToken, "grpc-timeout": "30m" };
      const url = `${server.address}/v1/${path}?atEnd=${atEnd}`;
      const answer = await fetch(url, { headers });
      assert.equal(answer.status, 504, url);
      assert.match(await answer.text(), /DEADLINE_EXCEEDED.*within the 30 ms/);
    }
  }
  assert.deepEqual(server.bugs, []);
  assert.equal(server.seen.reasons.length, 6, "each method with a signal was aborted");
});

test("a stream that exceeds its client's deadline ends with an error", async () => {
  await using server = await openTestStreams();
  const headers = { ...withToken, "x-server-timeout": "0.03" };
  const answer = await fetch(`${server.address}/v1/count/1?to=2&atEnd=hang`, { headers });
  const lines = (await answer.text()).trimEnd().split("\n");
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? "", /^\{"error":\{"code":4,/);
  await until(async () => await Promise.resolve(server.seen.over === 1));
});

test("a method receives its client's deadline", async () => {
  await using server = await openTestStreams();
  const url = `${server.address}/v1/wait`;
  const timed = await fetch(url, { headers: { ...withToken, "grpc-timeout": "20S" } });
  const json = await timed.text();
  const { n } = JSON.parse(json);
  assert.ok(n > 10_000 && n <= 20_000, json);
  assert.deepEqual(await (await fetch(url, { headers: withToken })).json(), { n: -1 });
  // A completed call is not aborted later.
  await (await fetch(url, { headers: { ...withToken, "grpc-timeout": "400m" } })).text();
  const longer = { ...withToken, "grpc-timeout": "500m" };
  assert.equal((await fetch(`${url}?atEnd=hang`, { headers: longer })).status, 504);
  assert.equal(server.seen.reasons.length, 1);
  const malformed = await fetch(url, { headers: { ...withToken, "grpc-timeout": "soon" } });
  assert.equal(malformed.status, 400);
  assert.match(await malformed.text(), /Grpc-Timeout/);
});
