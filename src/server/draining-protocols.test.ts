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
import { openTestStreams, token } from "../../test/open-test-streams.ts";

const headers = { authorization: `Bearer ${token}` };

test("a stream that the service ends while its caller still sends is never OK, over every protocol", async () => {
  const server = await openTestStreams();
  const baseUrl = server.address;
  const options = { baseUrl, httpVersion: "2" } as const;
  const transports = {
    grpc: createGrpcTransport({ baseUrl }),
    "grpc-web": createGrpcWebTransport(options),
    connect: createConnectTransport(options),
    "connect, JSON": createConnectTransport({ ...options, useBinaryFormat: false }),
  };
  const { promise: never } = Promise.withResolvers<never>();
  async function* talking() {
    yield { from: 7 };
    await never;
  }
  const open = await Promise.all(
    Object.entries(transports).map(async ([protocol, transport]) => {
      const call = createClient(Streams, transport).talk(talking(), { headers });
      const answers = call[Symbol.asyncIterator]();
      assert.equal((await answers.next()).value?.n, 7, protocol);
      return { protocol, answers };
    }),
  );
  const closed = server[Symbol.asyncDispose]();
  for (const { protocol, answers } of open) {
    // oxlint-disable-next-line no-await-in-loop -- all of them have ended by then
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
