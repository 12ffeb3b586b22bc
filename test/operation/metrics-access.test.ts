// Who can read the metrics: off by default, never open on a public address, a token on the common
// port, and settings that are wrong.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readConfig } from "../../src/config.ts";
import { startService } from "../fault/process.ts";
import { parseMetrics, sumOf } from "../fixtures/parse-metrics.ts";
import { openTestService } from "../spec/service.ts";

const data = mkdtempSync(join(tmpdir(), "hlust-metrics-"));
after(() => {
  rmSync(data, { recursive: true, force: true });
});

const token = "0123456789abcdef0123456789abcdef";

const invalid: readonly [settings: Record<string, string>, problem: RegExp][] = [
  [
    { HLUST_METRICS_LISTEN: "0.0.0.0:9464" },
    /^HLUST_METRICS_LISTEN is 0\.0\.0\.0:9464, which other machines can reach: set HLUST_METRICS_TOKEN/,
  ],
  [{ HLUST_METRICS_LISTEN: "[::]:9464" }, /HLUST_METRICS_LISTEN is \[::\]:9464, which other/],
  [{ HLUST_METRICS_LISTEN: "metrics.example:9464" }, /which other machines can reach/],
  [{ HLUST_METRICS_LISTEN: "9464" }, /must be an address with a port, such as 127\.0\.0\.1:9464/],
  [{ HLUST_METRICS_LISTEN: "127.0.0.1:99999" }, /must be an address with a port/],
  [{ HLUST_METRICS_TOKEN: "secret" }, /at least 16 printable ASCII characters .+, not 6/],
  [{ HLUST_METRICS_TOKEN: `${token} ${token}` }, /without spaces/],
  [
    { HLUST_METRICS_TOKEN: token, HLUST_METRICS_TOKEN_FILE: "/token" },
    /HLUST_METRICS_TOKEN and HLUST_METRICS_TOKEN_FILE are both set: remove one of them/,
  ],
];
for (const [settings, problem] of invalid) {
  test(`a start is refused with ${Object.keys(settings).join(", ")} of ${Object.values(settings).join(", ")}`, () => {
    assert.throws(
      () => readConfig(settings),
      (error: Error) => {
        assert.match(error.message, problem);
        assert.ok(!error.message.includes(token), "no message shows a token");
        return true;
      },
    );
  });
}

test("metrics are off by default, and on a loopback address they need no token", () => {
  assert.equal(readConfig({}).metrics, undefined);
  for (const address of ["127.0.0.1:9464", "[::1]:9464", "localhost:9464"]) {
    assert.ok(readConfig({ HLUST_METRICS_LISTEN: address }).metrics?.listen, address);
  }
  const { metrics } = readConfig({
    HLUST_METRICS_LISTEN: "0.0.0.0:9464",
    HLUST_METRICS_TOKEN: token,
  });
  assert.deepEqual(metrics?.listen, { host: "0.0.0.0", port: 9464 });
});

/** Starts the service, which must not become ready. Returns what it wrote for the operator. */
async function failedStart(settings: Readonly<Record<string, string>>): Promise<string> {
  const started = startService(data, { HLUST_ENGINE: "scripted", ...settings });
  const error: unknown = await started.then(
    async (service) => {
      await service.stop();
      assert.fail("the service has started");
    },
    (reason: unknown) => reason,
  );
  const { message } = error instanceof Error ? error : new Error(String(error));
  return message
    .split("\n")
    .filter((line) => line.startsWith("hlust: ") && !line.startsWith("hlust: the first API key"))
    .filter((line) => !line.startsWith("hlust: open the console"))
    .join("\n");
}

test("a start with a metrics port that is taken says so in one line", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const bound = other.address();
  assert.ok(typeof bound === "object" && bound !== null);
  const address = `127.0.0.1:${bound.port}`;
  assert.equal(
    await failedStart({ HLUST_METRICS_LISTEN: address }),
    `hlust: HLUST_METRICS_LISTEN is ${address}, but another program listens there: choose another port, or stop that program`,
  );
  other.close();
});

test("a start with a file of the token that is missing or empty names the setting", async () => {
  const listen = { HLUST_METRICS_LISTEN: "127.0.0.1:0" };
  const missing = { ...listen, HLUST_METRICS_TOKEN_FILE: join(data, "no-such-file") };
  assert.match(
    await failedStart(missing),
    /^hlust: HLUST_METRICS_TOKEN_FILE: .* cannot be read: ENOENT/,
  );
  const file = join(data, "empty");
  writeFileSync(file, "\n");
  assert.match(
    await failedStart({ ...listen, HLUST_METRICS_TOKEN_FILE: file }),
    /^hlust: HLUST_METRICS_TOKEN_FILE: .* cannot be read: it is empty/,
  );
});

test("with a token and no listener, /metrics is on the common port for that token only", async () => {
  const file = join(data, "token");
  writeFileSync(file, `${token}\n`);
  await using service = await openTestService({
    HLUST_ENGINE: "scripted",
    HLUST_METRICS_TOKEN_FILE: file,
  });
  assert.equal(service.app.metricsAddress, undefined);
  const get = (authorization?: string) =>
    fetch(`${service.address}/metrics`, {
      headers: authorization === undefined ? {} : { authorization },
    });
  for (const shown of [undefined, "Bearer", `Bearer ${token}x`, `Basic ${token}`]) {
    const answer = await get(shown);
    assert.equal(answer.status, 401, shown);
    assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    assert.equal(await answer.text(), "the metrics need the bearer token of HLUST_METRICS_TOKEN\n");
  }
  assert.equal((await get(`Bearer ${service.key}`)).status, 401, "an API key is no such token");
  const answer = await get(`Bearer ${token}`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const metrics = parseMetrics(await answer.text(), "prometheus");
  assert.equal(sumOf(metrics, "hlust_ready"), 1);
});

test("a service without the settings has no metrics", async () => {
  await using service = await openTestService({ HLUST_ENGINE: "scripted" });
  assert.equal(service.app.metricsAddress, undefined);
  assert.equal((await service.call("GET", "/metrics")).status, 404);
});
