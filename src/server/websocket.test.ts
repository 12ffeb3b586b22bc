import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket, type ClientOptions } from "ws";
import { Speech, type StreamingRecognizeRequest } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createTranscoder } from "../transcoding/transcoder.ts";
import { createAnswerError } from "./answer-errors.ts";
import { implemented, methodsOf } from "./methods.ts";
import { openPort } from "./port.ts";
import { refuseMalformed } from "./refuse.ts";
import { createWebSocketDoor } from "./websocket.ts";
import { testCaller, unwatched } from "../../test/fixtures/test-caller.ts";
import { createMessageReading } from "./message-reading.ts";

const pingMs = 50;
/** This is longer than three ping intervals. */
const heldMs = 600;

/**
 * Opens a door with a method that reads nothing for a while and then responds with the number of
 * messages that it has read, and with the sizes of their audio.
 */
async function openHeldDoor() {
  const speech = implemented(Speech, {
    recognize: () => assert.fail("not called"),
    async *streamingRecognize(requests: AsyncIterable<StreamingRecognizeRequest>) {
      await delay(heldMs);
      const sizes: number[] = [];
      for await (const { streamingRequest } of requests) {
        if (streamingRequest.case === "finalizeUtterance") break;
        if (streamingRequest.case === "audioContent") sizes.push(streamingRequest.value.length);
      }
      const transcripts = [`${sizes.length}`, sizes.join()];
      const alternatives = transcripts.map((transcript) => ({ transcript }));
      yield { results: [{ alternatives, isFinal: true }] };
    },
    listModels: () => assert.fail("not called"),
  });
  const caller = testCaller("a", ["speech"]);
  const door = createWebSocketDoor(
    { transcoder: createTranscoder([Speech]), methods: methodsOf([speech]) },
    {
      authenticator: { authenticate: () => Promise.resolve(caller), ...unwatched },
      answerError: createAnswerError(
        () => undefined,
        (bug) => assert.fail(String(bug)),
      ),
      reading: createMessageReading(),
      pingMs,
    },
  );
  const port = await openPort(
    { host: "127.0.0.1", port: 0 },
    { handle: () => {}, refuse: refuseMalformed, upgrade: door.handleUpgrade.bind(door) },
  );
  const connect = async (options: ClientOptions = {}) => {
    const path = "/v2beta1/speech:streamingrecognize";
    const socket = new WebSocket(`${port.address.replace("http", "ws")}${path}`, options);
    await once(socket, "open");
    return socket;
  };
  return {
    connect,
    drain: () => door.drain(),
    address: port.address,
    async [Symbol.asyncDispose]() {
      door.terminate();
      port.close();
      await port.drain();
    },
  };
}

test("a client with waiting messages is not disconnected, and no message is lost", async () => {
  await using door = await openHeldDoor();
  const socket = await door.connect();
  // This is far more data than is buffered, so the pongs come after it.
  const audioContent = "A".repeat(64_000);
  const count = 200;
  for (let sent = 0; sent < count; sent += 1) socket.send(JSON.stringify({ audioContent }));
  socket.send(JSON.stringify({ finalizeUtterance: true }));
  const closed = once(socket, "close");
  const answers: string[] = [];
  socket.on("message", (data: Buffer) => answers.push(data.toString()));
  const [code] = await closed;
  assert.equal(code, 1000);
  assert.match(answers.join(), new RegExp(`"transcript":"${count}"`));
});

test("a short message waits behind long ones, which wait for their turns", async () => {
  await using door = await openHeldDoor();
  const socket = await door.connect();
  const sizes = [120_000, 120_000, 3, 120_000, 300, 6];
  for (const size of sizes) {
    socket.send(JSON.stringify({ audioContent: "A".repeat((size * 4) / 3) }));
  }
  socket.send(JSON.stringify({ finalizeUtterance: true }));
  const [answer] = await once(socket, "message");
  assert.match(String(answer), new RegExp(`"transcript":"${sizes.join()}"`));
});

test("a client that does not answer pings is disconnected", async () => {
  await using door = await openHeldDoor();
  const socket = await door.connect({ autoPong: false });
  const began = performance.now();
  const [code] = await once(socket, "close");
  assert.equal(code, 1006);
  assert.ok(performance.now() - began < heldMs, "before its method ended");
});

test("thousands of tiny frames end the socket, whether they are messages, pings or fragments of one message", async () => {
  await using door = await openHeldDoor();
  const endOf = async (send: (socket: WebSocket) => void) => {
    const socket = await door.connect();
    const answers: string[] = [];
    socket.on("message", (data: Buffer) => answers.push(data.toString()));
    const closed = once(socket, "close");
    send(socket);
    const [code] = await closed;
    return { code, answers: answers.join() };
  };
  const times = (send: () => void) => {
    for (let sent = 0; sent < 2_000; sent += 1) send();
  };
  const messages = await endOf((socket) => times(() => socket.send("{}")));
  assert.match(messages.answers, /"PIECES_TOO_SMALL"/);
  assert.equal(messages.code, 1007);
  // ws disconnects a client that sends more pings than ws can answer.
  const pings = await endOf((socket) => times(() => socket.ping()));
  assert.equal(pings.code, 1006);
  const fragments = await endOf((socket) => times(() => socket.send("1", { fin: false })));
  assert.equal(fragments.code, 1008);
});

test("a page is closed with 1013 during a shutdown, and other clients get 503", async () => {
  await using door = await openHeldDoor();
  await door.drain();
  const url = `${door.address.replace("http", "ws")}/v2beta1/speech:streamingrecognize`;
  const page = new WebSocket(url, { headers: { origin: door.address } });
  const [data] = await once(page, "message");
  const { error } = JSON.parse(String(data));
  assert.deepEqual([error.code, error.details.length], [14, 2], "UNAVAILABLE, with RetryInfo");
  assert.match(JSON.stringify(error), /"SHUTTING_DOWN"/);
  const [code] = await once(page, "close");
  assert.equal(code, 1013);
  const [refused] = await once(new WebSocket(url), "error");
  assert.match(String(refused), /Unexpected server response: 503/);
});
