import assert from "node:assert/strict";
import { test } from "node:test";
import { messageBytesMax } from "./node-protocol.ts";
import { messageBytes, OutgoingMessages, waitingBytesMax } from "./outgoing-messages.ts";

const mebibyte = 1 << 20;
const open = () => new OutgoingMessages<number>((_process, frames) => frames.length);
const tooSlow = /the connection is too slow for what is sent/;

function fill(messages: OutgoingMessages<number>, bytes: number): void {
  for (let sent = 0; sent < bytes; sent += mebibyte) messages.frames(1, new Uint8Array(mebibyte));
}

/** Reads messages of this many bytes in total, and the one after them is not asked for. */
async function take(reader: AsyncGenerator<number>, bytes: number): Promise<void> {
  let taken = 0;
  while (taken < bytes) taken += (await reader.next()).value ?? assert.fail("they have ended");
  assert.equal(taken, bytes);
}

test("what waits for a slow connection, and what it takes, are at most the limit together", async () => {
  const messages = open();
  const reader = messages[Symbol.asyncIterator]();
  fill(messages, waitingBytesMax / 2);
  // The connection takes a part and half of the rest, and is then stuck with the last message.
  await take(reader, waitingBytesMax / 4);
  fill(messages, (3 * waitingBytesMax) / 4 - mebibyte);
  await take(reader, mebibyte);
  messages.frames(1, new Uint8Array(mebibyte));
  messages.frames(1, new Uint8Array(1));
  await assert.rejects(reader.next(), tooSlow);
});

test("a connection that keeps up may be sent any number of bytes", async () => {
  const messages = open();
  const reader = messages[Symbol.asyncIterator]();
  for (let round = 0; round < 3; round += 1) {
    fill(messages, waitingBytesMax - mebibyte);
    await take(reader, waitingBytesMax - mebibyte);
  }
  messages.end();
  assert.equal((await reader.next()).done, true);
});

test("messages without frames count too", async () => {
  const messages = open();
  const reader = messages[Symbol.asyncIterator]();
  for (let sent = 0; sent < waitingBytesMax; sent += messageBytes) messages.push(1);
  assert.equal((await reader.next()).value, 1);
  messages.push(1);
  await assert.rejects(reader.next(), tooSlow);
});

test("no message is too large for the other end, however long the connection is busy", async () => {
  const messages = open();
  const reader = messages[Symbol.asyncIterator]();
  messages.push(1);
  assert.equal((await reader.next()).value, 1);
  const frame = new Uint8Array(64 << 10);
  let left: number = 2 * messageBytesMax;
  for (let sent = 0; sent < left; sent += frame.length) messages.frames(1, frame);
  while (left > 0) {
    const bytes = (await reader.next()).value ?? assert.fail("they have ended");
    assert.ok(bytes <= mebibyte, `${bytes} bytes`);
    left -= bytes;
  }
});
