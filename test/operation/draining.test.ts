// HLUST_DRAIN: what a node does with open streams and new calls after SIGTERM, over WebSocket and
// gRPC, with real processes and signals.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema, RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { startService, type ServiceProcess } from "../fault/process.ts";
import { speech } from "../fixtures/engine-pool-fixture.ts";
import { until, within } from "../fixtures/until.ts";
import { callRest } from "../spec/service.ts";
import { finalsOf, openStream, streamingConfig } from "../spec/stream.ts";

const data = mkdtempSync(join(tmpdir(), "hlust-draining-"));
after(() => {
  rmSync(data, { recursive: true, force: true });
});

const oneSecond = Buffer.from(speech(1_000).buffer);
/** Only ends what hangs: the service has to do little, but the machine may be busy. */
const timeoutMs = 120_000;

async function openSocket({ address, key }: ServiceProcess) {
  const stream = await openStream(address, { token: key });
  stream.send(streamingConfig({ languageCode: "is-IS" }));
  stream.sendAudio(oneSecond);
  await stream.waitFor(({ result }) => (result?.results?.length ?? 0) > 0);
  return stream;
}

/** Opens a live stream over gRPC, and waits for its first result. */
async function openGrpcStream({ address, key }: ServiceProcess) {
  const client = createClient(Speech, createGrpcTransport({ baseUrl: address }));
  const rest = Promise.withResolvers<"end">();
  async function* requests() {
    const value = {
      config: { encoding: 1 as const, sampleRateHertz: 16_000, languageCode: "is-IS" },
      interimResults: true,
    };
    yield { streamingRequest: { case: "streamingConfig" as const, value } };
    yield { streamingRequest: { case: "audioContent" as const, value: oneSecond } };
    await rest.promise;
    yield { streamingRequest: { case: "audioContent" as const, value: oneSecond } };
  }
  const headers = { authorization: `Bearer ${key}` };
  const answers = client.streamingRecognize(requests(), { headers })[Symbol.asyncIterator]();
  await answers.next();
  const finals: string[] = [];
  const ended = (async () => {
    for (;;) {
      const { done, value } = await answers.next();
      if (done) return finals;
      for (const { isFinal, alternatives } of value.results) {
        if (isFinal) finals.push(alternatives[0]?.transcript ?? "");
      }
    }
  })();
  ended.catch(() => {});
  return { finals, ended, end: () => rest.resolve("end") };
}

/** Opens a watch of all jobs, which ends only with the service. */
async function openWatch({ address, key }: ServiceProcess) {
  const client = createClient(Transcripts, createGrpcTransport({ baseUrl: address }));
  const headers = { authorization: `Bearer ${key}` };
  const answers = client.watchTranscriptJobs({}, { headers })[Symbol.asyncIterator]();
  await answers.next();
  const ended = (async () => {
    while (!(await answers.next()).done);
  })().catch((error: unknown) => ConnectError.from(error).code);
  return { ended };
}

/** Begins an upload; `end` sends the rest of its bytes, and returns the status. */
async function beginUpload({ address, key }: ServiceProcess) {
  const answer = await callRest(address, key, {
    method: "POST",
    path: "/v1alpha1/initupload",
    body: {},
  });
  const half = Buffer.alloc(100_000, "half");
  const put = request(answer.json.storageSignedUrl, {
    method: "PUT",
    headers: { "content-length": 2 * half.length },
  });
  const answered = once(put, "response");
  answered.catch(() => {});
  await new Promise((sent) => put.write(half, sent));
  return async (): Promise<number> => {
    put.end(half);
    const [response] = await answered;
    response.resume();
    return response.statusCode;
  };
}

async function readyStatus(address: string): Promise<unknown> {
  const report: unknown = await (await fetch(`${address}/readyz`)).json();
  return typeof report === "object" && report !== null && "status" in report && report.status;
}

const settings = { HLUST_ENGINE: "scripted", HLUST_DRAIN: "1h" };

test(
  "a node that drains refuses new calls and streams on every protocol, and open streams continue until their clients end them",
  { timeout: timeoutMs },
  async () => {
    await using service = await startService(data, settings);
    const { address, key, child } = service;
    using cleaning = new DisposableStack();
    cleaning.defer(() => child.kill("SIGTERM"));
    const bearer = { authorization: `Bearer ${key}` };
    assert.deepEqual(await (await fetch(`${address}/startupz`)).json(), { status: "started" });
    const socket = await openSocket(service);
    const grpc = await openGrpcStream(service);
    const watch = await openWatch(service);
    const endUpload = await beginUpload(service);
    const session = connectHttp2(address);
    cleaning.defer(() => session.destroy());
    session.on("error", () => {});
    const goaway = once(session, "goaway");
    await once(session, "remoteSettings");

    child.kill("SIGTERM");
    await until(async () => (await readyStatus(address)) === "draining");
    assert.equal(await watch.ended, Code.Unavailable, "a watch does not hold the node");
    const [code] = await within("GOAWAY", goaway);
    assert.equal(code, 0);
    assert.equal((await fetch(`${address}/healthz`)).status, 200);
    const listed = async () => await fetch(`${address}/v1alpha1/transcripts`, { headers: bearer });
    await until(async () => (await listed()).status === 503);
    for (const path of ["/v1alpha1/transcripts", "/v1/models", "/v1/listen", "/console/"]) {
      const answer = await fetch(`${address}${path}`, { headers: bearer });
      assert.equal(answer.status, 503, path);
      assert.equal(answer.headers.get("retry-after"), "1", path);
      assert.equal(answer.headers.get("connection"), "close", path);
    }
    for (const path of ["/v2beta1/speech:streamingrecognize", "/v1/listen"]) {
      await assert.rejects(openStream(address, { token: key, path }), /HTTP 503/, path);
    }
    const transports = {
      grpc: createGrpcTransport({ baseUrl: address }),
      connect: createConnectTransport({ baseUrl: address, httpVersion: "1.1" }),
    };
    for (const [protocol, transport] of Object.entries(transports)) {
      const client = createClient(Transcripts, transport);
      const error = await client.listTranscripts({}, { headers: bearer }).then(
        () => assert.fail(`${protocol} answers`),
        (reason: unknown) => ConnectError.from(reason),
      );
      assert.equal(error.code, Code.Unavailable, protocol);
      assert.equal(error.findDetails(ErrorInfoSchema)[0]?.reason, "SHUTTING_DOWN", protocol);
      assert.ok(error.findDetails(RetryInfoSchema)[0]?.retryDelay, protocol);
    }
    const health = createClient(Health, transports.grpc);
    assert.equal((await health.check({})).status, Status.NOT_SERVING);

    // What was open goes on: the upload arrives, and both streams end as their clients end them.
    assert.equal(await endUpload(), 200);
    socket.sendAudio(oneSecond);
    socket.send({ audioContent: "" });
    assert.equal(await socket.closed, 1000);
    assert.equal(finalsOf(socket.messages).length, 1);
    assert.equal(child.exitCode, null, "the other stream is still open");
    const exited = once(child, "exit");
    grpc.end();
    assert.equal((await within("its last result", grpc.ended)).length, 1);
    assert.deepEqual(await within("nothing is open any more", exited), [0, null]);
  },
);

test(
  "when the time is over, streams that are left get their final results and end one after another",
  { timeout: timeoutMs },
  async () => {
    const seconds = 6;
    await using service = await startService(data, { ...settings, HLUST_DRAIN: `${seconds}` });
    const sockets = await Promise.all([1, 2, 3].map(() => openSocket(service)));
    const grpc = await openGrpcStream(service);
    const endedAt: number[] = [];
    const ends = [...sockets.map(({ closed }) => closed), grpc.ended.catch(() => {})];
    for (const end of ends) void end.then(() => endedAt.push(performance.now()));
    const began = performance.now();
    const exit = service.stop();
    for (const socket of sockets) {
      assert.equal(await within("the socket is closed", socket.closed), 1012);
      assert.equal(finalsOf(socket.messages).length, 1);
    }
    await assert.rejects(grpc.ended, { code: Code.Unavailable });
    assert.equal(grpc.finals.length, 1);
    assert.equal(await exit, 0);
    const [first = 0] = endedAt;
    const last = endedAt.at(-1) ?? 0;
    const thirdMs = (seconds * 1_000) / 3;
    assert.ok(first - began > 2 * thirdMs - 100, "nothing ends in the first two thirds");
    // Evenly, three quarters of a third lie between them; a busy machine sees them later.
    assert.ok(last - first > thirdMs / 4, `all ended within ${last - first} ms`);
    assert.equal(service.output().errors.includes("call.broken"), false);
  },
);

test(
  "a second signal ends the drain now, and open streams get their final results",
  { timeout: timeoutMs },
  async () => {
    await using service = await startService(data, settings);
    const { child, address } = service;
    const socket = await openSocket(service);
    child.kill("SIGTERM");
    await until(async () => (await readyStatus(address)) === "draining");
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    assert.equal(await within("the socket is closed", socket.closed), 1012);
    assert.equal(finalsOf(socket.messages).length, 1);
    assert.deepEqual(await within("the process ends", exited), [0, null]);
  },
);
