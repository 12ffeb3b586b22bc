import assert from "node:assert/strict";
import { test } from "node:test";
import { ChildSessions } from "../pool/child-sessions.ts";
import { type Frame, FrameWriter, jsonPayload } from "../protocol/engine-frames.ts";
import { FrameReader } from "../protocol/frame-reader.ts";
import { RelayedSession } from "./relayed-session.ts";
import { SessionSpans } from "./session-spans.ts";

/** Returns a writer, and what reads the frames that were written. */
function openWriter() {
  const chunks: Buffer[] = [];
  const writer = new FrameWriter({
    writable: true,
    write(bytes, done) {
      chunks.push(Buffer.from(bytes));
      done();
    },
  });
  const frames = (): Frame[] => {
    writer.flush();
    return [...new FrameReader().push(Buffer.concat(chunks))];
  };
  return { writer, frames };
}

test("a fault of the node in a session ends it in the process and for the client, and no other one", () => {
  const process = openWriter();
  const client = openWriter();
  const faults: unknown[] = [];
  const sessions = new ChildSessions({
    writer: process.writer,
    numbersFrom: 0,
    onChange: () => {},
    onFault: (error) => faults.push(error),
  });
  const spans = new SessionSpans(`00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`, {
    mode: "live",
    model: "scripted",
  });
  const relay = (clientId: number) =>
    sessions.relay(
      (id, toProcess) =>
        new RelayedSession(
          { id, clientId, mode: "live", spans },
          { toProcess, toClient: client.writer },
        ),
      Buffer.from("{}"),
    );
  const [failing, other] = [relay(71), relay(72)];
  // The trace expects alternatives.
  const payload = Buffer.from(JSON.stringify({ final: {} }));
  sessions.take({ kind: "committed", session: failing.id, payload });
  assert.equal(faults.length, 1);
  assert.ok(failing.isOver && !other.isOver);
  assert.deepEqual([...sessions.byNumber.keys()], [other.id]);
  const [frame = assert.fail("the client got no frame"), ...more] = client.frames();
  assert.deepEqual([frame.kind, frame.session, more.length], ["error", 71, 0]);
  assert.match(jsonPayload("error", frame).message, /^on its node: Cannot read properties/);
  const toProcess = process.frames().map(({ kind, session }) => [kind, session]);
  assert.deepEqual(toProcess, [
    ["open", failing.id],
    ["open", other.id],
    ["close", failing.id],
  ]);
});
