import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { Server } from "node:net";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { HttpResponse } from "./http.ts";
import { sendChunks } from "./send-chunks.ts";

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return address.port;
}

/** Creates a stream that yields these bytes and then hangs. */
function hangingStream(...chunks: readonly string[]): Readable {
  const stream = new Readable({ read() {} });
  for (const chunk of chunks) stream.push(chunk);
  return stream;
}

test("a stream that hangs is destroyed when the client disconnects", async () => {
  const sending = Promise.withResolvers<{ stream: Readable; end: Promise<void> }>();
  const answer = (_request: unknown, response: HttpResponse) => {
    const stream = hangingStream("the first of it");
    sending.resolve({ stream, end: sendChunks(response, stream) });
  };
  const server = createServer(answer);
  const request = get({ port: await portOf(server), host: "127.0.0.1" });
  const [response] = await once(request, "response");
  await once(response, "data");
  const { stream, end } = await sending.promise;
  request.on("error", () => {}).destroy();
  await assert.rejects(end, /the client closed the request/);
  assert.equal(stream.destroyed, true);
  server.close();
});

test("a stream that hangs is destroyed over HTTP/2 too, even if the client disconnects before the first byte", async () => {
  const ends: { stream: Readable; end: Promise<void> }[] = [];
  const both = Promise.withResolvers<void>();
  const server = createHttp2Server((_request, response) => {
    const stream = hangingStream("the first of it");
    ends.push({ stream, end: sendChunks(response, stream) });
    response.once("close", () => {
      const late = hangingStream();
      ends.push({ stream: late, end: sendChunks(response, late) });
      both.resolve();
    });
  });
  const client = connect(`http://127.0.0.1:${await portOf(server)}`);
  const request = client.request({ ":path": "/" }).on("error", () => {});
  await once(request, "data");
  request.close();
  await both.promise;
  for (const { stream, end } of ends) {
    await assert.rejects(end, /the client closed the request/);
    assert.equal(stream.destroyed, true);
  }
  client.close();
  server.close();
});
