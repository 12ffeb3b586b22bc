// A service whose sockets are kept open while it restarts, as systemd does with hlust.socket:
// clients that connect all the time, through the restart of every process of the node.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { openWyomingClient } from "../dialects/wyoming-client.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";
import { speech } from "../fixtures/engine-pool-fixture.ts";
import { silence } from "../fixtures/flite.ts";
import { type KeptSocket, openKeptSocket } from "../fixtures/kept-socket.ts";
import { openTestAuthority } from "../fixtures/test-authority.ts";
import { until, within } from "../fixtures/until.ts";
import { finalsOf, openStream, streamingConfig, type TestStream } from "../spec/stream.ts";
import { postgresOf, startService, treeOf, type ServiceProcess } from "./process.ts";

const timeout = 600_000 * cpuSlowness;
const folder = mkdtempSync(join(tmpdir(), "hlust-kept-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** An utterance and the pause that ends it. */
const utterance = Buffer.concat(
  [speech(1_000), silence(1_000)].map(({ buffer }) => Buffer.from(buffer)),
);

async function openSpoken({ address, key }: ServiceProcess): Promise<TestStream> {
  const stream = await openStream(address, { token: key });
  stream.send(streamingConfig({ languageCode: "is-IS" }));
  await speak(stream);
  return stream;
}

async function speak(stream: TestStream): Promise<void> {
  const wanted = finalsOf(stream.messages).length + 1;
  stream.sendAudio(utterance);
  await stream.waitFor(() => finalsOf(stream.messages).length >= wanted);
}

/** The calls of a client, each on a connection of its own, and how long each took. */
interface Load {
  readonly answered: number;
  /** Makes no more calls. Returns the failures and the longest time, when all have ended. */
  stop(): Promise<{ readonly failures: readonly string[]; readonly longestMs: number }>;
}

/** Makes a call every `everyMs`, whether or not the earlier ones have ended. */
function openLoad(everyMs: number, call: () => Promise<void>): Load {
  const failures: string[] = [];
  const calls: Promise<void>[] = [];
  let [answered, longestMs] = [0, 0];
  const timer = setInterval(() => {
    const beganMs = performance.now();
    const called = call().then(
      () => {
        answered += 1;
        longestMs = Math.max(longestMs, performance.now() - beganMs);
      },
      (error: unknown) => void failures.push(describe(error)),
    );
    calls.push(called);
  }, everyMs);
  return {
    get answered() {
      return answered;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(calls);
      return { failures, longestMs };
    },
  };
}

function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? describe(error.cause) : "";
  return `${String(error)} ${cause}`;
}

/** Makes a call on a connection of its own, for which it waits as long as it takes. */
async function statusOf(url: string, headers: Readonly<Record<string, string>> = {}) {
  const get = url.startsWith("https:") ? https.get : http.get;
  return await new Promise<number | undefined>((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    }).once("error", reject);
  });
}

/** The calls of clients of every protocol. */
function openLoads({ address, key }: ServiceProcess, wyoming: KeptSocket): readonly Load[] {
  const list = async () => {
    const headers = { authorization: `Bearer ${key}` };
    assert.equal(await statusOf(`${address}/v1alpha1/transcripts?pageSize=1`, headers), 200);
  };
  const page = async () => assert.equal(await statusOf(`${address}/healthz`), 200);
  const grpc = async () => {
    const transport = createGrpcTransport({ baseUrl: address, idleConnectionTimeoutMs: 1 });
    await createClient(Health, transport).check({});
  };
  const describeWyoming = async () => {
    const client = await openWyomingClient(`${wyoming.host}:${wyoming.port}`, address);
    client.send("describe");
    await client.waitFor("info");
    client.socket.end();
  };
  return [
    openLoad(10, page),
    openLoad(100, list),
    openLoad(100, grpc),
    openLoad(200, describeWyoming),
  ];
}

const answeredBy = (loads: readonly Load[]) => loads.map(({ answered }) => answered);

for (const [kind, processes] of [
  ["one process", "1"],
  ["two front processes and TLS", "2"],
] as const) {
  test(
    `a node of ${kind} restarts without a refused connection, after its open streams have ended`,
    { timeout },
    async (t) => {
      using port = openKeptSocket();
      using wyoming = openKeptSocket();
      const authority = await openTestAuthority(join(folder, `authority-${processes}`));
      const { certificate, key } = await authority.issue("service");
      const settings = {
        HLUST_ENGINE: "scripted",
        HLUST_HOST: port.host,
        HLUST_PORT: `${port.port}`,
        HLUST_FRONT_PROCESSES: processes,
        HLUST_WYOMING_LISTEN: `${wyoming.host}:${wyoming.port}`,
        HLUST_DRAIN: "1h",
        HLUST_ACCOUNT_REQUESTS_PER_MINUTE: "1000000",
        ...(processes === "2" && { HLUST_TLS_CERTIFICATE: certificate, HLUST_TLS_KEY: key }),
      };
      const data = join(folder, `data-${processes}`);
      const sockets = [port.descriptor, wyoming.descriptor];
      const start = () => startService(data, settings, { sockets });

      await using first = await start();
      // If an assertion fails, the drain ends at a second signal.
      using cleaning = new DisposableStack();
      cleaning.defer(() => first.child.kill("SIGTERM"));
      assert.equal(Number(new URL(first.address).port), port.port);
      const stream = await openSpoken(first);
      const loads = openLoads(first, wyoming);
      cleaning.defer(() => loads.forEach((load) => void load.stop()));
      await until(async () => answeredBy(loads).every((count) => count > 5), 60_000);

      first.child.kill("SIGTERM");
      const ready = async () => (await fetch(`${first.address}/readyz`)).status;
      await until(async () => (await ready()) === 503);
      // While the stream goes on, calls and further streams are answered.
      const counts = answeredBy(loads);
      await until(
        async () => answeredBy(loads).every((count, at) => count > (counts[at] ?? 0) + 5),
        60_000,
      );
      const other = await openSpoken(first);
      other.send({ audioContent: "" });
      assert.equal(await within("the end of the other stream", other.closed), 1000);
      await speak(stream);
      stream.send({ audioContent: "" });
      const exited = once(first.child, "exit");
      assert.equal(await within("the end of the stream", stream.closed), 1000);
      assert.equal(finalsOf(stream.messages).length, 2);
      const endedMs = performance.now();
      assert.deepEqual(await within("the end of the node", exited, 60_000), [0, null]);

      // Connections wait, and are answered by the next process.
      const before = answeredBy(loads);
      await sleep(500);
      assert.deepEqual(answeredBy(loads), before, "without a process there are no answers");
      await using second = await start();
      const startMs = performance.now() - endedMs;
      await until(
        async () => answeredBy(loads).every((count, at) => count > (before[at] ?? 0) + 10),
        60_000,
      );
      const results = await Promise.all(loads.map((load) => load.stop()));
      assert.deepEqual(
        results.flatMap(({ failures }) => failures),
        [],
      );
      const longestMs = Math.max(...results.map((result) => result.longestMs));
      t.diagnostic(
        `${answeredBy(loads).join()} calls; the longest took ${Math.round(longestMs)} ms, ` +
          `the restart ${Math.round(startMs)} ms`,
      );
      assert.ok(longestMs > 500, "calls waited in the socket");
      const again = await openSpoken(second);
      again.send({ audioContent: "" });
      assert.equal(await within("the end of a stream", again.closed), 1000);
      assert.equal(await second.stop(), 0);
    },
  );
}

/** Opens a connection that sends nothing yet, and that the service has accepted. */
async function openQuiet({ address }: ServiceProcess) {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  let received = "";
  socket.on("data", (text: string) => (received += text));
  const closed = once(socket, "close");
  await once(socket, "connect");
  // Connections are accepted in order.
  assert.equal((await fetch(`${address}/healthz`)).status, 200);
  return {
    write: (...lines: readonly string[]) => socket.write([...lines, "", ""].join("\r\n")),
    /** Returns what the service has sent when the connection is closed. */
    async answer() {
      await within("the end of a connection", closed);
      return received;
    },
  };
}

test(
  "streams that last longer than the drain end with 1012, and their clients continue at the next process",
  { timeout },
  async () => {
    using port = openKeptSocket();
    using wyoming = openKeptSocket();
    const settings = {
      HLUST_ENGINE: "scripted",
      HLUST_HOST: port.host,
      HLUST_PORT: `${port.port}`,
      HLUST_WYOMING_LISTEN: `${wyoming.host}:${wyoming.port}`,
      HLUST_DRAIN: "3s",
    };
    const data = join(folder, "data-long");
    const start = () =>
      startService(data, settings, { sockets: [port.descriptor, wyoming.descriptor] });
    await using first = await start();
    const stream = await openSpoken(first);
    const [quiet, slow] = [await openQuiet(first), await openQuiet(first)];
    const body = JSON.stringify({ metadata: { languageCode: "is-IS", fileType: "AUDIO" } });
    slow.write(
      "POST /v1alpha1/transcripts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json",
      `Authorization: Bearer ${first.key}\r\nContent-Length: ${body.length + 4}`,
    );
    const late = await openWyomingClient(`${wyoming.host}:${wyoming.port}`, first.address);
    const exited = once(first.child, "exit");
    const beganMs = performance.now();
    first.child.kill("SIGTERM");
    // Wyoming is closed before the port; this client has connected, and sends late.
    await sleep(3_500);
    late.send("describe");
    await late.waitFor("info");
    assert.equal(await within("the end of the stream", stream.closed), 1012);
    assert.ok(performance.now() - beganMs >= 2_900, "the stream had the time of the drain");
    // The node still has a call in flight, but this stream would be ended at once.
    const opening = openSpoken(first);
    await sleep(300);
    slow.write(body);
    assert.match(await slow.answer(), /^HTTP\/1.1 200 /);
    await sleep(500);
    quiet.write("GET /healthz HTTP/1.1\r\nHost: a");
    assert.match(await quiet.answer(), /^HTTP\/1.1 200 /);
    assert.deepEqual(await within("the end of the node", exited), [0, null]);
    const drains = first.output().errors.match(/^.*"service\.draining".*$/gm) ?? [];
    assert.equal(drains.length, 1, "the log states once what the node waits for");
    await using second = await start();
    const next = await within("a stream at the next process", opening);
    next.send({ audioContent: "" });
    assert.equal(await within("its end", next.closed), 1000);
    assert.equal(await second.stop(), 0);
  },
);

test(
  "no child process of a node has its kept sockets, or takes them for its own",
  { timeout },
  async () => {
    using port = openKeptSocket();
    const data = join(folder, "data-children");
    await using service = await startService(
      data,
      {
        HLUST_ENGINE: "scripted",
        HLUST_HOST: port.host,
        HLUST_PORT: `${port.port}`,
        HLUST_FRONT_PROCESSES: "2",
      },
      { sockets: [port.descriptor] },
    );
    const holds = (pid: number) =>
      readdirSync(`/proc/${pid}/fd`).some((descriptor) => {
        try {
          return readlinkSync(`/proc/${pid}/fd/${descriptor}`) === port.link;
        } catch {
          return false;
        }
      });
    assert.ok(holds(service.pid));
    const children = [...treeOf(service.pid).slice(1), ...postgresOf(data)];
    assert.ok(children.length > 3);
    for (const { pid, command } of children) {
      assert.equal(holds(pid), false, command);
      assert.doesNotMatch(readFileSync(`/proc/${pid}/environ`, "latin1"), /LISTEN_FDS/, command);
    }
  },
);

test("a node does not start with a socket of another address", { timeout }, async () => {
  using port = openKeptSocket();
  const child = spawn(
    "/bin/sh",
    [
      "-c",
      'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve',
      resolve(import.meta.dirname, "../../bin/hlust"),
    ],
    {
      env: { PATH: process.env["PATH"], HLUST_DATA: join(folder, "none"), HLUST_PORT: "1" },
      stdio: ["ignore", "ignore", "pipe", port.descriptor],
    },
  );
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const [code] = await once(child, "close");
  assert.equal(code, 2);
  const passed = `systemd passes a socket at 127.0.0.1:${port.port}, `;
  assert.ok(errors.includes(`${passed}but HLUST_HOST and HLUST_PORT are 127.0.0.1:1:`), errors);
});
