import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, constants, type ClientHttp2Session } from "node:http2";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../../test/fixtures/until.ts";
import { writePart, type HttpResponse } from "./http.ts";
import { giveUpReading } from "./request-body.ts";
import { openPort } from "./port.ts";
import { refuseMalformed } from "./refuse.ts";

/** The size of a response that exceeds the stream's window, so that the rest waits in memory. */
const answerBytes = 1 << 20;
const unsentMsMax = 3_000;

/** Calls a service that sends this response over HTTP/2, and reads nothing of the response. */
async function openUnreadAnswer(answer: (response: HttpResponse) => void, method = "GET") {
  const closed = Promise.withResolvers<unknown>();
  const port = await openPort(
    { host: "127.0.0.1", port: 0 },
    {
      handle: (_request, response) => {
        response.once("close", closed.resolve);
        answer(response);
      },
      refuse: refuseMalformed,
      upgrade: () => {},
    },
    { unsentMsMax },
  );
  const session = connect(port.address).on("error", () => {});
  const stream = session.request({ ":method": method, ":path": "/" });
  stream.on("error", () => {});
  await once(stream, "response");
  // This pause lets the window fill up.
  await sleep(100);
  return {
    session,
    stream,
    closed: closed.promise,
    async [Symbol.asyncDispose]() {
      session.destroy();
      port.close();
      await port.drain();
    },
  };
}

const answers: Readonly<Record<string, (response: HttpResponse) => void>> = {
  "that is being written": (response) => {
    writePart(response, Buffer.alloc(answerBytes));
  },
  "that is written": (response) => {
    response.end(Buffer.alloc(answerBytes));
  },
};

const departures: Readonly<
  Record<string, (session: ClientHttp2Session, stream: { close: (code: number) => void }) => void>
> = {
  "resets its stream with NO_ERROR": (_session, stream) => {
    stream.close(constants.NGHTTP2_NO_ERROR);
  },
  "resets its stream with CANCEL": (_session, stream) => {
    stream.close(constants.NGHTTP2_CANCEL);
  },
  "destroys its connection": (session) => {
    session.destroy();
  },
};

for (const [state, answer] of Object.entries(answers)) {
  for (const [name, leave] of Object.entries(departures)) {
    test(`an unread HTTP/2 response ${state} is released soon after the client ${name}`, async () => {
      await using call = await openUnreadAnswer(answer);
      leave(call.session, call.stream);
      await within("the answer is released", call.closed, unsentMsMax / 2);
    });
  }
}

test("an HTTP/2 response is sent completely even if the service has closed its stream", async () => {
  await using call = await openUnreadAnswer((response) => {
    response.end(Buffer.alloc(answerBytes));
    // Closes the stream on the server side while the response is still being sent.
    void giveUpReading(response);
  }, "POST");
  await sleep(unsentMsMax / 4);
  let bytes = 0;
  for await (const part of call.stream) bytes += Buffer.from(part).length;
  assert.equal(bytes, answerBytes);
});
