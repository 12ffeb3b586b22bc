// Tests streams over WebSockets with well-behaved and faulty servers.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type CallOptions, Code, ConnectError, createClient } from "@connectrpc/connect";
import { type WebSocket, WebSocketServer } from "ws";
import { until } from "../../test/fixtures/until.ts";
import { BadRequestSchema } from "../gen/google/rpc/error_details_pb.ts";
import {
  Speech,
  StreamingRecognizeRequestSchema,
  type StreamingRecognizeResponse,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createRestTransport, type RestTransportOptions } from "./rest-transport.ts";

type Request = MessageInitShape<typeof StreamingRecognizeRequestSchema>;

const audio = (bytes: number): Request => ({
  streamingRequest: { case: "audioContent", value: new Uint8Array(bytes) },
});
const finalize = create(StreamingRecognizeRequestSchema, audio(0));

/** Starts a server that passes each socket to a function of the test. */
async function serve(
  handle: (socket: WebSocket, request: IncomingMessage) => void,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = new WebSocketServer({
    port: 0,
    host: "127.0.0.1",
    handleProtocols: () => "Bearer",
  });
  server.on("connection", handle);
  await once(server, "listening");
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === "object");
  return {
    url: `http://127.0.0.1:${bound.port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, "close");
    },
  };
}

function stream(
  url: string,
  requests: AsyncIterable<Request>,
  options: CallOptions & Partial<RestTransportOptions> = {},
): AsyncIterable<StreamingRecognizeResponse> {
  const transport = createRestTransport({ url, lastMessageOf: () => finalize, ...options });
  return createClient(Speech, transport).streamingRecognize(requests, options);
}

/** Returns the responses before the stream ended, and how the stream ended. */
async function readAll(
  responses: AsyncIterable<StreamingRecognizeResponse>,
): Promise<{ texts: string[]; error: ConnectError | undefined }> {
  const texts: string[] = [];
  try {
    for await (const { results } of responses) {
      texts.push(results[0]?.alternatives[0]?.transcript ?? "");
    }
    return { texts, error: undefined };
  } catch (error) {
    assert.ok(error instanceof ConnectError, String(error));
    return { texts, error };
  }
}

async function* requestsOf(...requests: Request[]): AsyncGenerator<Request, void> {
  yield* requests;
}

const result = (transcript: string): string =>
  JSON.stringify({ result: { results: [{ alternatives: [{ transcript }] }] } });

test("messages are sent as JSON, the token is sent as the subprotocol, and a last message marks the end", async () => {
  const seen: unknown[] = [];
  await using server = await serve((socket, { url, headers }) => {
    seen.push(url, headers["sec-websocket-protocol"], headers.authorization);
    socket.on("message", (data: Buffer, isBinary) => {
      seen.push(isBinary ? "binary" : JSON.parse(data.toString()));
      if (data.toString() !== '{"audioContent":""}') return;
      socket.send(result("á"));
      socket.close(1000);
    });
  });
  const { texts, error } = await readAll(
    stream(server.url, requestsOf(audio(3)), { token: "hlust_a_b" }),
  );
  assert.deepEqual(texts, ["á"]);
  assert.equal(error, undefined);
  const path = "/v2beta1/speech:streamingrecognize";
  const sent = [{ audioContent: "AAAA" }, { audioContent: "" }];
  assert.deepEqual(seen, [path, "Bearer, hlust_a_b", undefined, ...sent]);
  seen.length = 0;
  await readAll(stream(server.url, requestsOf()));
  assert.deepEqual(seen, [path, undefined, undefined, { audioContent: "" }]);
});

test("every close code of a socket results in its error, after the messages that precede it", async () => {
  const details = [
    { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field: "f" }] },
  ];
  const status = { code: 3, message: "bad", details };
  const rows: [end: (socket: WebSocket) => void, code: Code | undefined, message: RegExp][] = [
    [(socket) => socket.close(1000), undefined, /^$/],
    [(socket) => socket.close(1001), Code.Unavailable, /closed the connection/],
    [(socket) => socket.close(), Code.Unavailable, /1005/],
    [(socket) => socket.terminate(), Code.Unavailable, /lost/],
    [(socket) => socket.close(1007), Code.InvalidArgument, /1007/],
    [(socket) => socket.close(1008, "why"), Code.PermissionDenied, /1008 why/],
    [(socket) => socket.close(1009), Code.InvalidArgument, /too long/],
    [(socket) => socket.close(1011), Code.Internal, /1011/],
    [(socket) => socket.close(1012), Code.Unavailable, /restarting/],
    [(socket) => socket.close(1013), Code.Unavailable, /busy/],
    [(socket) => socket.close(4000), Code.Unknown, /4000/],
    [(socket) => socket.send(Buffer.of(1)), Code.Internal, /binary/],
    [(socket) => socket.send("{}"), Code.Internal, /neither/],
    [(socket) => socket.send("{"), Code.Internal, /not JSON/],
    [(socket) => socket.send(JSON.stringify({ error: status })), Code.InvalidArgument, /bad/],
  ];
  let row = rows[0];
  let closed = 0;
  await using server = await serve((socket) => {
    socket.on("close", () => {
      closed += 1;
    });
    socket.send(result("1"));
    socket.send(result("2"), () => row?.[0](socket));
  });
  for (row of rows) {
    const { texts, error } = await readAll(stream(server.url, requestsOf(audio(2))));
    assert.deepEqual(texts, ["1", "2"]);
    assert.equal(error?.code, row[1], String(row[0]));
    assert.match(error?.message ?? "", row[2]);
    if (row[2].source === "bad") {
      const [found] = error?.findDetails(BadRequestSchema) ?? [];
      assert.equal(found?.fieldViolations[0]?.field, "f");
    }
  }
  await until(async () => await Promise.resolve(closed === rows.length));
});

test("requests are read no faster than they can be sent", async () => {
  let asked = 0;
  let socketOf: WebSocket | undefined;
  await using server = await serve((socket) => {
    socketOf = socket;
    socket.pause();
    socket.on("message", (data: Buffer) => {
      if (data.toString() === '{"audioContent":""}') socket.close(1000);
    });
  });
  const chunkBytes = 48_000;
  const chunks = 600;
  async function* endless(): AsyncGenerator<Request, void> {
    for (; asked < chunks; asked++) yield audio(chunkBytes);
  }
  const reading = readAll(stream(server.url, endless()));
  let before = -1;
  // The socket is full when no further request is read.
  await until(async () => {
    const isStill = asked > 0 && asked === before;
    before = asked;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
    return isStill;
  });
  const heldBytes = asked * chunkBytes;
  assert.ok(heldBytes < 20 << 20, `${heldBytes} bytes were read from the caller`);
  socketOf?.resume();
  assert.equal((await reading).error, undefined);
  assert.equal(asked, chunks);
});

test("failing requests end the call with their error, and requests are released when the responses end", async () => {
  let closed = 0;
  await using server = await serve((socket) => {
    socket.on("close", () => {
      closed += 1;
    });
    socket.on("message", (data: Buffer) => {
      if (data.length > 100) socket.close(1000);
    });
  });
  const broken = new Error("broken");
  async function* failing(): AsyncGenerator<Request, void> {
    yield audio(2);
    throw broken;
  }
  const { error } = await readAll(stream(server.url, failing()));
  assert.equal(error?.cause, broken);
  let isLeft = false;
  async function* more(): AsyncGenerator<Request, void> {
    try {
      yield audio(2);
      for (;;) yield audio(200);
    } finally {
      isLeft = true;
    }
  }
  assert.deepEqual(await readAll(stream(server.url, more())), { texts: [], error: undefined });
  await until(async () => await Promise.resolve(isLeft && closed === 2));
});

test("an abort or a timeout closes the socket while it opens, before the first request, and during the stream", async () => {
  let open = 0;
  const sockets: WebSocket[] = [];
  await using server = await serve((socket) => {
    open += 1;
    // The first peer is slow to close.
    if (sockets.push(socket) === 1) socket.pause();
    socket.on("close", () => {
      open -= 1;
    });
    socket.send(result("1"));
  });
  const aborting = new AbortController();
  async function* waiting(): AsyncGenerator<Request, void> {
    yield audio(2);
    await new Promise(() => {});
  }
  const aborted = { signal: aborting.signal };
  const responses = stream(server.url, requestsOf(audio(2)), aborted)[Symbol.asyncIterator]();
  await responses.next();
  const middle = readAll({ [Symbol.asyncIterator]: () => responses });
  aborting.abort();
  assert.equal((await middle).error?.code, Code.Canceled);
  assert.equal(open, 1);
  sockets[0]?.resume();
  const late = await readAll(stream(server.url, waiting(), { timeoutMs: 2_000 }));
  assert.equal(late.error?.code, Code.DeadlineExceeded);
  assert.deepEqual(late.texts, ["1"]);
  const never: AsyncIterable<Request> = {
    [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
  };
  const first = await readAll(stream(server.url, never, { timeoutMs: 50 }));
  assert.equal(first.error?.code, Code.DeadlineExceeded);
  const signal = AbortSignal.abort();
  const before = await readAll(stream(server.url, waiting(), { signal }));
  assert.equal(before.error?.code, Code.Canceled);
  await until(async () => await Promise.resolve(open === 0));
});

test("headers that a WebSocket cannot carry are refused", async () => {
  const rows: [headers: Record<string, string>, code: Code, message: RegExp][] = [
    [{ "x-other": "1" }, Code.InvalidArgument, /x-other/],
    [{ authorization: "Bearer a b" }, Code.Unauthenticated, /token/],
    [{ authorization: "Basic abc" }, Code.Unauthenticated, /token/],
  ];
  for (const [headers, code, message] of rows) {
    const { error } = await readAll(
      stream("http://127.0.0.1:9", requestsOf(audio(2)), { headers }),
    );
    assert.equal(error?.code, code);
    assert.match(error?.message ?? "", message);
  }
});
