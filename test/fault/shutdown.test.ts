// A node that is shutting down: it first reports that it is not ready, continues to serve for a
// while, and closes its listener last.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { speech } from "../fixtures/engine-pool-fixture.ts";
import { callRest } from "../spec/service.ts";
import { finalsOf, openStream, streamingConfig } from "../spec/stream.ts";
import { until, within } from "../fixtures/until.ts";
import { startService, type ServiceProcess } from "./process.ts";

const data = mkdtempSync(join(tmpdir(), "hlust-shutdown-"));
after(() => {
  rmSync(data, { recursive: true, force: true });
});

/** Opens an HTTP/1.1 connection that stays open across several calls. */
function openKept(address: string) {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  let received = "";
  socket.on("data", (part: string) => (received += part));
  return {
    closed: once(socket, "close"),
    write: (bytes: string) => socket.write(bytes),
    /** Returns the next complete response, whose body is JSON. */
    async answer() {
      await until(async () => /\r\n\r\n\{.*\}$/s.test(received));
      const answer = received;
      received = "";
      return answer;
    },
  };
}

/** Submits a job whose media is fetched from this server. */
async function submit({ address, key }: ServiceProcess, media: Server): Promise<void> {
  const at = media.address();
  assert.ok(typeof at === "object" && at !== null);
  const { status } = await callRest(address, key, {
    method: "POST",
    path: "/v1alpha1/transcriptjob:submit",
    body: {
      metadata: { languageCode: "is-IS", fileType: "AUDIO" },
      useUri: true,
      uri: `http://127.0.0.1:${at.port}/a.wav`,
    },
  });
  assert.equal(status, 200);
}

test("a node that is shutting down reports that it is not ready, serves calls until the delay is over, and then closes connections", async () => {
  const settings = { HLUST_ENGINE: "scripted", HLUST_DRAIN_DELAY: "10m" };
  await using service = await startService(data, settings);
  const { address, key, child } = service;
  // If an assertion fails, the service is ended by a second signal.
  using cleaning = new DisposableStack();
  cleaning.defer(() => child.kill("SIGTERM"));
  const head = `Host: a\r\nAuthorization: Bearer ${key}\r\n`;
  const list = `GET /v1alpha1/transcripts HTTP/1.1\r\n${head}\r\n`;
  const isDraining = async () => (await fetch(`${address}/readyz`)).status === 503;

  child.kill("SIGHUP");
  await until(async () => service.output().errors.includes("settings.reloaded"));
  assert.equal((await fetch(`${address}/readyz`)).status, 200, "SIGHUP ends nothing");

  const health = createClient(Health, createGrpcTransport({ baseUrl: address }));
  const watching = health.watch({})[Symbol.asyncIterator]();
  assert.equal((await watching.next()).value?.status, Status.SERVING);
  const kept = openKept(address);
  // The job keeps running, because its media never arrives.
  const media = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "audio/wav", "content-length": 1_000_000 });
    response.write("RIFF");
  }).listen(0, "127.0.0.1");
  cleaning.defer(() => media.close());
  await once(media, "listening");
  const [asked] = await within(
    "its media is requested",
    Promise.all([once(media, "request"), submit(service, media)]),
  );
  const returned = once(asked[1], "close");

  child.kill("SIGTERM");
  await until(isDraining);
  await within("the job is returned", returned);
  await until(async () => service.output().errors.includes("job.released"));
  assert.equal((await watching.next()).value?.status, Status.NOT_SERVING);
  assert.equal((await health.check({})).status, Status.NOT_SERVING);
  for (const path of ["/readyz", "/readyz?for=speech"]) {
    const { status, json } = await callRest(address, undefined, { method: "GET", path });
    assert.deepEqual([status, json.status], [503, "draining"], path);
  }
  assert.equal((await fetch(`${address}/healthz`)).status, 200);
  kept.write(list);
  const before = await kept.answer();
  assert.match(before, /^HTTP\/1.1 200 /);
  assert.doesNotMatch(before, /connection: close/i);
  const stream = await openStream(address, { token: key });
  stream.send(streamingConfig({ languageCode: "is-IS" }));
  stream.sendAudio(Buffer.from(speech(1_000).buffer));
  await stream.waitFor(({ result }) => (result?.results?.length ?? 0) > 0);
  // The call is in flight: its body follows later.
  const slow = openKept(address);
  const body = JSON.stringify({ transcript: { metadata: { languageCode: "is-IS" } } });
  const create = `POST /v1alpha1/transcripts HTTP/1.1\r\n${head}Content-Type: application/json\r\n`;
  slow.write(`${create}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`);

  child.kill("SIGTERM");
  await assert.rejects(watching.next(), { code: Code.Unavailable });
  assert.equal(await stream.closed, 1012);
  assert.equal(finalsOf(stream.messages).length, 1);
  kept.write(list);
  const last = await kept.answer();
  assert.match(last, /^HTTP\/1.1 200 /);
  assert.match(last, /connection: close/i);
  const late = await fetch(`${address}/healthz`);
  assert.equal(late.headers.get("connection"), "close", "the listener closes last");
  const exited = once(child, "exit");
  slow.write(body);
  assert.match(await slow.answer(), /HTTP\/1.1 \d+ .*connection: close/is);
  await Promise.all([kept.closed, slow.closed]);
  assert.deepEqual(await exited, [0, null]);
});
