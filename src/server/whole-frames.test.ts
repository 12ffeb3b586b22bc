import assert from "node:assert/strict";
import { once } from "node:events";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { duplexPair, type Duplex } from "node:stream";
import { test } from "node:test";
import fc from "fast-check";
import { WebSocketServer, type WebSocket } from "ws";
import { runs } from "../../test/fixtures/property-runs.ts";
import { readWholeFrames } from "./whole-frames.ts";

const opcodes = { continuation: 0, text: 1, bytes: 2, close: 8, ping: 9, pong: 10 } as const;

interface Frame {
  readonly isFinal: boolean;
  readonly reserved: number;
  readonly opcode: number;
  /** Undefined: the frame has no mask, as clients must not send it. */
  readonly mask: Uint8Array | undefined;
  readonly payload: Uint8Array;
  /** Whether the length is written in more bytes than necessary. */
  readonly isLong: boolean;
}

const whole = { isFinal: true, reserved: 0, opcode: opcodes.text, isLong: false } as const;

test("readWholeFrames() emits what ws emits, whatever is sent and however it is cut", async () => {
  const payload = fc.oneof(
    fc.string({ maxLength: 30, unit: "grapheme" }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 30 }),
    fc.integer({ min: 120, max: 300 }).map((length) => Buffer.alloc(length, "a")),
    fc.constantFrom(Buffer.alloc(70_000, "b"), Buffer.from([3, 232]), Buffer.alloc(0)),
  );
  const mask = fc.uint8Array({ minLength: 4, maxLength: 4 });
  const rarely = <T>(usual: T, other: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
  const frame: fc.Arbitrary<Frame> = fc.record({
    isFinal: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
    reserved: rarely(0, fc.constantFrom(0x10, 0x40)),
    opcode: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom<number>(opcodes.text, opcodes.bytes) },
      { weight: 2, arbitrary: fc.constantFrom<number>(...Object.values(opcodes)) },
      { weight: 1, arbitrary: fc.constant(3) },
    ),
    mask: rarely<Uint8Array | undefined>(new Uint8Array(4), fc.constant(undefined)).chain((given) =>
      given ? mask : fc.constant(undefined),
    ),
    payload,
    isLong: rarely(false, fc.boolean()),
  });
  const frames = fc.array(frame, { maxLength: 8 });
  /** In thousandths of all bytes, or between all frames. */
  const cuts = fc.oneof(
    fc.array(fc.nat({ max: 1_000 }), { maxLength: 6 }),
    fc.constant("frames" as const),
  );
  const closesAfter = fc.oneof(fc.constant(Infinity), fc.nat({ max: 3 }));
  await fc.assert(
    fc.asyncProperty(frames, cuts, closesAfter, async (frames, cuts, closesAfter) => {
      const each = frames.map(bytesOf);
      const pieces = cuts === "frames" ? each : cut(Buffer.concat(each), cuts);
      const [own, ofWs] = [true, false].map((isOwn) => eventsOf(pieces, { isOwn, closesAfter }));
      assert.deepEqual(await own, await ofWs);
    }),
    { numRuns: runs(300) },
  );
});

test("readWholeFrames() leaves ws nothing to read of whole frames", async () => {
  const { client, socket } = open();
  const receiver: unknown = Reflect.get(socket, "_receiver");
  assert.ok(typeof receiver === "object" && receiver !== null && "write" in receiver);
  const { write } = receiver;
  assert.ok(typeof write === "function");
  const left: Buffer[] = [];
  receiver.write = (bytes: Buffer): unknown => {
    left.push(Buffer.from(bytes));
    return write.call(receiver, bytes);
  };
  readWholeFrames(socket);
  const messages: string[] = [];
  socket.on("message", (data: Buffer) => messages.push(data.toString()));
  const mask = Uint8Array.of(1, 2, 3, 4);
  const texts = ["", "a", "live audio ".repeat(400), "of a length that is not a multiple of 4"];
  const several = texts.map((text) => bytesOf({ ...whole, mask, payload: Buffer.from(text) }));
  client.write(Buffer.concat(several));
  const ping = bytesOf({ ...whole, opcode: opcodes.ping, mask, payload: Buffer.from("p") });
  client.write(Buffer.from(ping));
  const last = bytesOf({ ...whole, mask, payload: Buffer.from("last") });
  client.write(last);
  await until(() => messages.length === texts.length + 1);
  assert.deepEqual(messages, [...texts, "last"]);
  assert.deepEqual(left, [ping]);
  client.resume().end();
  await once(socket, "close");
});

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !holds(); turn += 1) await new Promise(setImmediate);
}

/** Sends the pieces one after the other. Returns what the socket emits, and what it sends. */
async function eventsOf(
  pieces: readonly Buffer[],
  { isOwn, closesAfter }: { readonly isOwn: boolean; readonly closesAfter: number },
): Promise<readonly string[]> {
  const { client, socket } = open();
  if (isOwn) readWholeFrames(socket);
  const events: string[] = [];
  let messages = 0;
  const message = (data: Buffer, isBinary: boolean): void => {
    events.push(`${isBinary ? "bytes" : "text"} ${data.toString("base64")}`);
    if (messages === closesAfter) socket.close(4000, "enough");
    messages += 1;
  };
  socket
    .on("message", message)
    .on("ping", (data: Buffer) => events.push(`ping ${data.toString("base64")}`))
    .on("pong", (data: Buffer) => events.push(`pong ${data.toString("base64")}`))
    .on("error", (error) => events.push(`error ${Reflect.get(error, "code")}: ${error.message}`));
  const sent: Buffer[] = [];
  client.on("data", (bytes: Buffer) => sent.push(bytes));
  const closed = new Promise<string>((resolve) => {
    socket.on("close", (code, reason) => resolve(`closed ${code} ${reason.toString()}`));
  });
  // Each run needs its own bytes: masks are removed in place.
  for (const piece of pieces) client.write(Buffer.from(piece));
  client.end();
  const end = await closed;
  client.destroy();
  return [...events, end, Buffer.concat(sent).toString("base64")];
}

/** Opens the socket of a server, without a network. */
function open(): { readonly client: Duplex; readonly socket: WebSocket } {
  const [client, raw] = duplexPair();
  const request = new IncomingMessage(new Socket());
  request.method = "GET";
  request.headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  let opened: WebSocket | undefined;
  server.handleUpgrade(request, raw, Buffer.alloc(0), (socket) => (opened = socket));
  assert.ok(opened);
  return { client, socket: opened };
}

/** Cuts bytes at positions in thousandths of their length. */
function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = cuts.map((at) => Math.floor((bytes.length * at) / 1_000));
  const ends = [...places.toSorted((a, b) => a - b), bytes.length];
  return ends
    .map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
    .filter(({ length }) => length > 0);
}

/** Returns a frame as bytes (RFC 6455, section 5.2). */
function bytesOf({ isFinal, reserved, opcode, mask, payload, isLong }: Frame): Buffer {
  const { length } = payload;
  const code =
    length >= 65_536 || (isLong && length >= 126) ? 127 : length > 125 || isLong ? 126 : 0;
  const size = code === 127 ? 8 : code === 126 ? 2 : 0;
  const header = Buffer.alloc(2 + size);
  header[0] = (isFinal ? 0x80 : 0) | reserved | opcode;
  header[1] = (mask ? 0x80 : 0) | (code || length);
  if (code === 126) header.writeUInt16BE(length, 2);
  if (code === 127) header.writeBigUInt64BE(BigInt(length), 2);
  if (!mask) return Buffer.concat([header, payload]);
  const masked = Uint8Array.from(payload, (byte, at) => byte ^ (mask[at % 4] ?? 0));
  return Buffer.concat([header, mask, masked]);
}
