import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { Streams } from "../../test/gen/streams_pb.ts";
import { answerErrors, createAnswerError } from "./answer-errors.ts";
import { createDraining } from "./draining.ts";

/**
 * Opens a client of Talk, a method that answers each message, and once more when the messages end.
 * After `answersMax` answers, the method ends by itself.
 */
function openTalk(beforeLast = Promise.resolve(), answersMax = Infinity) {
  const draining = createDraining();
  const answer = createAnswerError(
    () => undefined,
    () => {},
  );
  const transport = createRouterTransport(
    ({ service }) => {
      service(Streams, {
        async *talk(requests) {
          let answers = 0;
          for await (const { from } of requests) {
            yield { n: from };
            answers += 1;
            if (answers === answersMax) return;
          }
          await beforeLast;
          yield { n: -1 };
        },
      });
    },
    { router: { interceptors: [answerErrors(answer), draining.interceptor] } },
  );
  return { draining, client: createClient(Streams, transport) };
}

async function* endless() {
  yield { from: 7 };
  await new Promise(() => {});
}

/** Resolves to the responses in order, followed by how the call ended. */
async function listen(
  answers: AsyncIterable<{ n: number }>,
): Promise<readonly (number | string)[]> {
  const received: (number | string)[] = [];
  try {
    for await (const { n } of answers) received.push(n);
    return [...received, "ok"];
  } catch (error) {
    return [...received, Code[ConnectError.from(error).code]];
  }
}

test("createDraining() ends the requests of open streams, so the last responses are sent, followed by UNAVAILABLE", async () => {
  const { draining, client } = openTalk();
  const open = client.talk(endless())[Symbol.asyncIterator]();
  assert.equal((await open.next()).value?.n, 7);
  const rest = listen({ [Symbol.asyncIterator]: () => open });
  draining.drain();
  assert.deepEqual(await rest, [-1, "Unavailable"]);
  assert.deepEqual(await listen(client.talk(endless())), [-1, "Unavailable"], "a later one");
});

test("createDraining() ignores a stream whose client has ended its requests", async () => {
  const held = Promise.withResolvers<void>();
  const { draining, client } = openTalk(held.promise);
  async function* ended() {
    yield { from: 7 };
  }
  const open = client.talk(ended())[Symbol.asyncIterator]();
  assert.equal((await open.next()).value?.n, 7);
  const rest = listen({ [Symbol.asyncIterator]: () => open });
  // The method has read the end of the messages, and is writing its last response.
  await new Promise(setImmediate);
  draining.drain();
  held.resolve();
  assert.deepEqual(await rest, [-1, "ok"]);
});

test("createDraining() ignores a method that ends before its client does", async () => {
  const { draining, client } = openTalk(undefined, 1);
  const open = client.talk(endless())[Symbol.asyncIterator]();
  assert.equal((await open.next()).value?.n, 7);
  draining.drain();
  assert.deepEqual(await listen({ [Symbol.asyncIterator]: () => open }), ["ok"]);
});

test("createDraining() keeps no reference to streams whose responses are never read", async () => {
  const draining = createDraining();
  let ended = 0;
  const call = draining.interceptor(async (request) => {
    assert.ok(request.stream);
    const reading = request.message[Symbol.asyncIterator]().next();
    // Counts the streams that are ended. A stream that is still referenced would be ended.
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
