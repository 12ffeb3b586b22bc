import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { Streams } from "../../test/gen/streams_pb.ts";
import { createDraining } from "./draining.ts";

/** A client of Talk, which answers each message, and at the end once more. */
function openTalk() {
  const draining = createDraining();
  const transport = createRouterTransport(
    ({ service }) => {
      service(Streams, {
        async *talk(requests) {
          for await (const { from } of requests) yield { n: from };
          yield { n: -1 };
        },
      });
    },
    { router: { interceptors: [draining.interceptor] } },
  );
  return { draining, client: createClient(Streams, transport) };
}

async function* endless() {
  yield { from: 7 };
  await new Promise(() => {});
}

test("createDraining() ends the requests of open streams, and of those that come later", async () => {
  const { draining, client } = openTalk();
  const open = client.talk(endless())[Symbol.asyncIterator]();
  assert.equal((await open.next()).value?.n, 7);
  const last = open.next();
  draining.drain();
  assert.equal((await last).value?.n, -1);
  assert.equal((await open.next()).done, true);
  const late = await Array.fromAsync(client.talk(endless()));
  assert.deepEqual(
    late.map(({ n }) => n),
    [-1],
  );
});

test("createDraining() keeps nothing of streams whose answers are never asked for", async () => {
  const draining = createDraining();
  let ended = 0;
  const call = draining.interceptor(async (request) => {
    assert.ok(request.stream);
    const reading = request.message[Symbol.asyncIterator]().next();
    // Who is kept is told to end.
    void reading.then(() => (ended += 1));
    async function* none() {}
    return await Promise.resolve({
      stream: true,
      service: request.service,
      method: request.method,
      header: new Headers(),
      trailer: new Headers(),
      message: none(),
    });
  });
  const method = Streams.method.talk;
  const request = {
    stream: true,
    service: Streams,
    method,
    requestMethod: "POST",
    url: "http://127.0.0.1/",
    signal: new AbortController().signal,
    header: new Headers(),
    contextValues: {
      get: () => assert.fail(),
      set: () => assert.fail(),
      delete: () => assert.fail(),
    },
    message: { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) },
  } as const;
  await call(request);
  draining.drain();
  await new Promise(setImmediate);
  assert.equal(ended, 0);
});
