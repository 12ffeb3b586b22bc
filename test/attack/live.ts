import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { streamingConfig, streamPath } from "../spec/stream.ts";
import type { Attack } from "./attack.ts";
import type { NodeUnderAttack } from "./node-under-attack.ts";
import { around } from "./payloads.ts";

/** The maximum length of a message. */
const messageBytes = 1 << 20;
const floodMs = 1_500;

/** Attacks that use the messages of live recognition. */
export const liveAttacks: readonly Attack[] = [
  messages("lists that are nested without end", around('{"zz":', "[", "", messageBytes), 20),
  messages("a megabyte of empty objects", around('{"zz":[', "{},", "{}]}", messageBytes), 20),
  messages("a megabyte of white space", around("{", " ", "}", messageBytes), 20),
  messages("100 contexts of 500 phrases", Buffer.from(JSON.stringify(hints(100, 500))), 20),
  messages(
    "the most hints that are accepted",
    Buffer.from(JSON.stringify(hints(1, 500))),
    100,
    true,
  ),
  messages("a configuration, and nothing else", Buffer.from(JSON.stringify(hints(0, 0))), 300),
];

/**
 * Sends the same first message on this many sockets concurrently, and again as soon as they are
 * closed.
 */
function messages(what: string, first: Buffer, count: number, isInGate = false): Attack {
  return {
    name: `live: ${what}, on ${count} sockets`,
    isInGate,
    prepare: async (node) => async () => await flood(node, first, count),
  };
}

async function flood(node: NodeUnderAttack, first: Buffer, count: number): Promise<string> {
  const endsAt = performance.now() + floodMs;
  const codes = new Map<string, number>();
  const one = async (): Promise<void> => {
    while (performance.now() < endsAt && !node.isLost) {
      const code = await stream(node, first, endsAt - performance.now());
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: count }, one));
  return [...codes].map(([code, times]) => `${times} closed with ${code}`).join(", ");
}

async function stream(node: NodeUnderAttack, first: Buffer, ms: number): Promise<string> {
  const url = `${node.address.replace("http", "ws")}${streamPath}?token=${node.token}`;
  const socket = new WebSocket(url);
  socket.on("error", () => {});
  const closed = once(socket, "close").then(([code]) => String(code));
  socket.once("open", () => {
    socket.send(first.toString());
  });
  const end = new AbortController();
  const { signal } = end;
  const over = sleep(ms, "nothing", { signal }).catch(() => "nothing");
  const code = await Promise.race([closed, over]);
  end.abort();
  socket.terminate();
  return code;
}

function hints(contexts: number, phrases: number) {
  const words = Array.from({ length: phrases }, (_, at) => `${at}`.padStart(15, "a"));
  const speechContexts = Array.from({ length: contexts }, () => ({ phrases: words, boost: 20 }));
  return streamingConfig({ speechContexts });
}
