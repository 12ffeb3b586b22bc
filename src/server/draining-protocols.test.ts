import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { Streams } from "../../test/gen/streams_pb.ts";
import { openTestGrpcDoor, openTestStreams, token } from "../../test/fixtures/open-test-streams.ts";
import { until } from "../../test/fixtures/until.ts";
import { ServiceError } from "../std/service-error.ts";

const headers = { authorization: `Bearer ${token}` };

function transportsTo(baseUrl: string) {
  const options = { baseUrl, httpVersion: "2" } as const;
  return {
    grpc: createGrpcTransport({ baseUrl }),
    "grpc-web": createGrpcWebTransport(options),
    connect: createConnectTransport(options),
    "connect, JSON": createConnectTransport({ ...options, useBinaryFormat: false }),
  };
}

test("on every protocol, a stream that the service ends while its client is still sending does not end with OK", async () => {
  const server = await openTestStreams();
  const { promise: never } = Promise.withResolvers<never>();
  async function* talking() {
    yield { from: 7 };
    await never;
  }
  const open = await Promise.all(
    Object.entries(transportsTo(server.address)).map(async ([protocol, transport]) => {
      const call = createClient(Streams, transport).talk(talking(), { headers });
      const answers = call[Symbol.asyncIterator]();
      assert.equal((await answers.next()).value?.n, 7, protocol);
      return { protocol, answers };
    }),
  );
  const closed = server[Symbol.asyncDispose]();
  for (const { protocol, answers } of open) {
    const error = await answers.next().then(
      () => assert.fail(`${protocol}: the stream ended with OK`),
      (reason: unknown) => ConnectError.from(reason),
    );
    assert.equal(error.code, Code.Unavailable, protocol);
    assert.equal(error.rawMessage, "the service is shutting down: open the stream again", protocol);
    assert.equal(error.findDetails(ErrorInfoSchema)[0]?.reason, "SHUTTING_DOWN", protocol);
    assert.ok(error.findDetails(RetryInfoSchema)[0]?.retryDelay, protocol);
  }
  await closed;
});

test("calls that are still open at the end of the shutdown get UNAVAILABLE, whether their method stops, throws or ignores the signal", async () => {
  await using server = await openTestGrpcDoor();
  const calls = Object.entries(transportsTo(server.address)).flatMap(([protocol, transport]) => {
    const client = createClient(Streams, transport);
    return ["hang", "abort", "deaf"].flatMap((atEnd) => [
      { name: `${protocol} ${atEnd}`, ended: client.wait({ atEnd }, { headers }) },
      {
        name: `${protocol} ${atEnd}, stream`,
        ended: Array.fromAsync(client.count({ atEnd }, { headers })),
      },
    ]);
  });
  const errors = calls.map(async ({ name, ended }) => {
    const error = await Promise.resolve(ended).then(
      () => assert.fail(name),
      (reason: unknown) => ConnectError.from(reason),
    );
    assert.equal(error.code, Code.Unavailable, name);
    assert.ok(error.findDetails(RetryInfoSchema)[0]?.retryDelay, name);
  });
  await until(() => Promise.resolve(server.seen.tokens.length === calls.length));
  server.shutdown.abort(new ServiceError("unavailable", "the service is shutting down"));
  await Promise.all(errors);
  assert.deepEqual(server.bugs, []);
});
