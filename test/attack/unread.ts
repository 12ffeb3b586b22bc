import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectHttp2 } from "node:http2";
import { sql } from "kysely";
import { insertMegabyteJob, longestTranscript } from "./things.ts";
import type { Attack } from "./attack.ts";
import type { NodeUnderAttack } from "./node-under-attack.ts";
import { field, rpc } from "./payloads.ts";
import { envelope, openGrpc, openSocket, requestHead } from "./send.ts";

const settleMs = 1_000;

/** Responses that the client does not read, so that the service keeps them in memory. */
export const unreadAttacks: readonly Attack[] = [
  {
    name: "unread: 1,000 watches of a job with a megabyte of metadata over REST",
    isInGate: true,
    prepare: async (node) => {
      const job = await insertMegabyteJob(node);
      return async () => {
        const head = requestHead(node, "GET", `/v1alpha1/${job}:watch`);
        return await unread(node, head, 1_000, () => progress(node, job));
      };
    },
  },
  {
    name: "unread: 1,000 watches of a job with a megabyte of metadata over gRPC",
    isInGate: true,
    prepare: async (node) => {
      const job = await insertMegabyteJob(node);
      return async () => await unreadWatches(node, job);
    },
  },
  ...(["", ":export?format=JSON", ":export?format=SRT"] as const).map((suffix): Attack => ({
    name: `unread: 200 times the longest transcript${suffix}`,
    isInGate: suffix === "",
    prepare: async (node) => {
      const name = await longestTranscript(node);
      const head = requestHead(node, "GET", `/v1alpha1/${name}${suffix}`);
      return async () => await unread(node, head, 200);
    },
  })),
  {
    name: "unread: 200 connections with 100 calls each for /openapi.json",
    isInGate: false,
    prepare: async (node) => async () =>
      await unread(node, requestHead(node, "GET", "/openapi.json").repeat(100), 200),
  },
  {
    name: "unread: 200 connections with 1,000 lists each",
    isInGate: true,
    prepare: async (node) => async () =>
      await unread(node, requestHead(node, "GET", "/v1alpha1/transcripts").repeat(1_000), 200),
  },
  {
    name: "unread: the longest transcript over gRPC, 200 calls without a window",
    isInGate: true,
    prepare: async (node) => {
      const name = await longestTranscript(node);
      return async () => await unreadCalls(node, rpc.get, name, 200);
    },
  },
];

/** Opens connections that send requests and do not read the responses. */
async function unread(
  node: NodeUnderAttack,
  request: string,
  count: number,
  meanwhile: () => Promise<unknown> = async () => await sleep(settleMs),
): Promise<string> {
  const sockets: Socket[] = [];
  for (let at = 0; at < count && !node.isLost; at++) {
    const socket = await openSocket(node);
    socket.pause();
    socket.write(request);
    sockets.push(socket);
  }
  await meanwhile();
  const cut = sockets.filter((socket) => socket.destroyed).length;
  for (const socket of sockets) socket.destroy();
  return `${cut} of ${count} were cut`;
}

/** Changes the watched job before each check of the service. */
async function progress({ db }: NodeUnderAttack, job: string): Promise<void> {
  for (let percent = 1; percent <= 4; percent++) {
    await sql`update transcript_job set progress_percent = ${percent} where id = ${job.split("/")[1]}::uuid`.execute(
      db,
    );
    await sleep(600);
  }
}

async function unreadWatches(node: NodeUnderAttack, job: string): Promise<string> {
  const end = await openUnread(node, rpc.watch, job, 1_000);
  await progress(node, job);
  return end();
}

async function unreadCalls(
  node: NodeUnderAttack,
  path: string,
  name: string,
  count: number,
): Promise<string> {
  const end = await openUnread(node, path, name, count);
  await sleep(settleMs);
  return end();
}

/** Opens gRPC calls with a window of 0 bytes, 250 on each connection. */
async function openUnread(
  node: NodeUnderAttack,
  path: string,
  name: string,
  count: number,
): Promise<() => string> {
  const request = envelope(field(1, name));
  const sessions = Array.from({ length: Math.ceil(count / 250) }, () =>
    connectHttp2(node.address, { settings: { initialWindowSize: 0 } }).on("error", () => {}),
  );
  let closed = 0;
  for (const session of sessions) {
    for (let at = 0; at < Math.min(250, count); at++) {
      const stream = openGrpc(session, node, path);
      stream.once("close", () => (closed += 1));
      stream.end(request);
    }
  }
  await sleep(1);
  return () => {
    for (const session of sessions) session.destroy();
    return `${closed} of ${count} were ended`;
  };
}
