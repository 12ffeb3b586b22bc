import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Code,
  ConnectError,
  createClient,
  createRouterTransport,
  type Client,
} from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { credentials, Client as GrpcClient } from "@grpc/grpc-js";
import { unwatched } from "../../test/fixtures/test-caller.ts";
import { until } from "../../test/fixtures/until.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../gen/grpc/health/v1/health_pb.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { answerErrors, createAnswerError } from "./answer-errors.ts";
import { createGrpcHealth } from "./grpc-health.ts";
import { createReadiness } from "./health.ts";
import { implemented, type ImplementedService } from "./methods.ts";
import { openServer } from "./server.ts";

const speech = "hlust.speech.v2beta1.Speech";
const notCalled = () => Promise.reject(new Error("not called here"));

/**
 * Opens a server with one part whose readiness the test sets, and counts how often the part is
 * checked.
 */
async function openHealth(services = [idle(Speech)]) {
  const part = { isReady: true, asked: 0 };
  const check = () => {
    part.asked += 1;
    return part.isReady ? Promise.resolve() : Promise.reject(new Error("not ready"));
  };
  const server = await openServer(
    { host: "127.0.0.1", port: 0 },
    {
      // Health checks need no token.
      api: { services, authenticator: { authenticate: notCalled, ...unwatched } },
      health: { checks: [{ name: "part", uses: ["speech"], check }] },
      log: createLog("silent"),
    },
  );
  return { server, part, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Returns a service whose methods are never called. */
function idle(service: typeof Speech): ImplementedService {
  const refuse = () => Promise.reject(new ServiceError("internal", "not called here"));
  return implemented(service, {
    recognize: refuse,
    async *streamingRecognize() {
      yield await refuse();
    },
    listModels: refuse,
  });
}

const healthAt = (address: string) =>
  createClient(Health, createGrpcTransport({ baseUrl: address }));

/** Watches a service until stopped. `ended` resolves with the error that ended the call. */
function follow(client: Client<typeof Health>, service: string) {
  const stop = new AbortController();
  const seen: Status[] = [];
  const watch = async () => {
    const watching = client.watch({ service }, { signal: stop.signal });
    for await (const { status } of watching) seen.push(status);
  };
  const ended = watch().then(() => assert.fail("the service ended the call"), ConnectError.from);
  const stopped = () => {
    stop.abort();
    return ended;
  };
  return { seen, ended, stop: stopped };
}

test("Check reports the status of the server and of each service, without a token", async () => {
  await using opened = await openHealth();
  const { server, part } = opened;
  const client = healthAt(server.address);
  for (const service of ["", speech]) {
    assert.equal((await client.check({ service })).status, Status.SERVING, service);
  }
  const { statuses } = await client.list({});
  assert.deepEqual(Object.keys(statuses), ["", speech]);
  assert.ok(Object.values(statuses).every(({ status }) => status === Status.SERVING));
  for (const service of ["hlust.speech.v2beta1", "speech", "x".repeat(10_000)]) {
    await assert.rejects(client.check({ service }), { code: Code.NotFound });
  }
  part.isReady = false;
  await until(async () => (await client.check({})).status === Status.NOT_SERVING);
  assert.equal((await client.list({})).statuses[speech]?.status, Status.NOT_SERVING);
  assert.equal((await fetch(`${server.address}/readyz`)).status, 503, "both report the same");
});

test("Check uses the wire format of gRPC's health protocol", async () => {
  await using opened = await openHealth();
  const client = new GrpcClient(new URL(opened.server.address).host, credentials.createInsecure());
  const check = (request: string) =>
    new Promise<string>((resolve, reject) => {
      const same = (bytes: Buffer) => bytes;
      const bytes = Buffer.from(request, "hex");
      client.makeUnaryRequest(
        "/grpc.health.v1.Health/Check",
        same,
        same,
        bytes,
        (error, answer) => {
          if (error) reject(error);
          else resolve(answer?.toString("hex") ?? "");
        },
      );
    });
  try {
    assert.equal(await check(""), "0801", "no service: status 1, SERVING");
    const name = Buffer.from(speech).toString("hex");
    assert.equal(await check(`0a${(name.length / 2).toString(16)}${name}`), "0801");
    await assert.rejects(check("0a0178"), { code: 5, details: 'service: "x" is not served here' });
    opened.part.isReady = false;
    await until(async () => (await check("")) === "0802");
  } finally {
    client.close();
  }
});

test("gRPC-Web and Connect get the same responses", async () => {
  await using opened = await openHealth();
  const baseUrl = opened.server.address;
  for (const transport of [
    createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  ]) {
    const client = createClient(Health, transport);
    assert.equal((await client.check({ service: speech })).status, Status.SERVING);
    const { seen, stop } = follow(client, "unknown");
    await until(() => Promise.resolve(seen.length === 1));
    assert.deepEqual(seen, [Status.SERVICE_UNKNOWN]);
    assert.equal((await stop()).code, Code.Canceled);
  }
});

test("Watch reports the status immediately, and then only changes, even for an unknown service", async () => {
  await using opened = await openHealth();
  const client = healthAt(opened.server.address);
  const known = follow(client, "");
  const unknown = follow(client, "x");
  await until(() => Promise.resolve(known.seen.length === 1 && unknown.seen.length === 1));
  opened.part.isReady = false;
  await until(() => Promise.resolve(known.seen.length === 2));
  opened.part.isReady = true;
  await until(() => Promise.resolve(known.seen.length === 3));
  assert.deepEqual(known.seen, [Status.SERVING, Status.NOT_SERVING, Status.SERVING]);
  assert.deepEqual(unknown.seen, [Status.SERVICE_UNKNOWN]);
  assert.equal((await known.stop()).code, Code.Canceled);
  assert.equal((await unknown.stop()).code, Code.Canceled, "the call was still open");
});

test("a hundred watchers check the parts only as often as a single watcher", async () => {
  await using opened = await openHealth();
  const client = healthAt(opened.server.address);
  const began = performance.now();
  const watchers = Array.from({ length: 100 }, () => follow(client, speech));
  const all = (count: number) => () =>
    Promise.resolve(watchers.every(({ seen }) => seen.length === count));
  await until(all(1));
  await until(() => Promise.resolve(opened.part.asked >= 2));
  opened.part.isReady = false;
  await until(all(2));
  const seconds = (performance.now() - began) / 1000;
  assert.ok(opened.part.asked <= seconds + 2, `${opened.part.asked} in ${seconds} s`);
  await Promise.all(watchers.map((watcher) => watcher.stop()));
});

test("when the service stops, watchers are notified immediately and their streams end", async () => {
  const opened = await openHealth();
  const { seen, ended } = follow(healthAt(opened.server.address), "");
  await until(() => Promise.resolve(seen.length === 1));
  const began = performance.now();
  await opened.server[Symbol.asyncDispose]();
  assert.ok(performance.now() - began < 10_000, "the shutdown waits for no watcher");
  const error = await ended;
  assert.equal(error.code, Code.Unavailable);
  assert.match(error.message, /the service is shutting down/);
  assert.deepEqual(seen, [Status.SERVING, Status.NOT_SERVING]);
});

test("Check answers NOT_SERVING as soon as the service stops", async () => {
  const [leaving, draining] = [new AbortController(), new AbortController()];
  const readiness = createReadiness([], { explain: () => undefined, log: createLog("silent") });
  const health = createGrpcHealth({
    services: [],
    useOf: () => undefined,
    readiness,
    leaving: leaving.signal,
    draining: draining.signal,
  });
  const answer = createAnswerError(
    () => undefined,
    () => {},
  );
  const transport = createRouterTransport(
    ({ service }) => {
      service(health.service, health.implementation);
    },
    { router: { interceptors: [answerErrors(answer)] } },
  );
  const client = createClient(Health, transport);
  assert.equal((await client.check({})).status, Status.SERVING);
  leaving.abort();
  assert.equal((await client.check({})).status, Status.NOT_SERVING);
  draining.abort();
  await assert.rejects(Array.fromAsync(client.watch({})), { code: Code.Unavailable });
});

test("at most a thousand streams without a token can be open concurrently", async () => {
  await using opened = await openHealth();
  const { address } = opened.server;
  // Each connection carries up to 256 streams.
  const clients = Array.from({ length: 5 }, () => healthAt(address));
  const watchers = clients.flatMap((client) =>
    Array.from({ length: 200 }, () => follow(client, "x")),
  );
  await until(() => Promise.resolve(watchers.every(({ seen }) => seen.length === 1)));
  const late = healthAt(address).watch({}, { timeoutMs: 20_000 });
  await assert.rejects(Array.fromAsync(late), {
    code: Code.ResourceExhausted,
    rawMessage: "1000 streams without a token are open: try again later",
  });
  assert.equal((await healthAt(address).check({})).status, Status.SERVING, "not a stream");
  await watchers.pop()?.stop();
  // The service may notice the end of a watch later than the client, so try until it accepts a new
  // one.
  const next = healthAt(address);
  await until(async () => {
    for await (const { status } of next.watch({ service: "x" })) {
      return status === Status.SERVICE_UNKNOWN;
    }
    return false;
  });
  await Promise.all(watchers.map((watcher) => watcher.stop()));
});

test("a server without services serves only health checks", async () => {
  await using opened = await openHealth([]);
  const { address } = opened.server;
  assert.equal((await healthAt(address).check({})).status, Status.SERVING);
  await assert.rejects(healthAt(address).check({ service: speech }), { code: Code.NotFound });
  const client = createClient(Speech, createGrpcTransport({ baseUrl: address }));
  await assert.rejects(client.recognize({}), { code: Code.Unimplemented });
});
