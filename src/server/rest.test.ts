// The HTTP rules that the REST door can serve.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Streams } from "../../test/gen/streams_pb.ts";
import { unwatched } from "../../test/fixtures/test-caller.ts";
import { createTranscoder } from "../transcoding/transcoder.ts";
import { defaultAnswers } from "./held-answers.ts";
import { createRestDoor } from "./rest.ts";
import { createMessageReading } from "./message-reading.ts";

test("createRestDoor() throws for a rule that no door can serve", () => {
  const door = (method: string, rule: object) =>
    createRestDoor(
      {
        transcoder: createTranscoder([Streams], {
          rules: [{ selector: `${Streams.typeName}.${method}`, ...rule }],
        }),
        methods: new Map(),
      },
      {
        authenticator: { authenticate: () => assert.fail("not called"), ...unwatched },
        answerError: () => assert.fail("not called"),
        reading: createMessageReading(),
        answers: defaultAnswers(),
        shutdownSignal: new AbortController().signal,
      },
    );
  const socket = { custom: { kind: "WEBSOCKET", path: "/v1/x" } };
  const rows: [method: string, rule: object, problem: RegExp | undefined][] = [
    ["Talk", { post: "/v1/x", body: "*" }, /Talk is bidi_streaming: it cannot be served as POST/],
    ["Count", socket, /Count is server_streaming: it cannot be served as WEBSOCKET/],
    ["Wait", socket, /Wait is unary: it cannot be served as WEBSOCKET/],
    ["Talk", socket, undefined],
    ["Talk", { custom: { kind: "*", path: "/v1/x" } }, undefined],
    ["Count", { get: "/v1/x" }, undefined],
  ];
  for (const [method, rule, problem] of rows) {
    if (problem) assert.throws(() => door(method, rule), problem);
    else door(method, rule);
  }
});
