// Measures the memory of sockets that are open, authenticated and configured, but send no audio.
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import {
  listenerOf,
  ownPostgresOf,
  processTree,
  pssBytes,
} from "../../src/cli/bench/process-tree.ts";
import type { Figure } from "../report.ts";
import type { MeasuredServer } from "./servers.ts";

const sockets = 10_000;
const memoryMebibytesMax = 300;
/**
 * The sockets are idle for this long before memory is measured. The service closes them after 60 s
 * without audio.
 */
const idleMs = 30_000;
/** The number of sockets that are opened concurrently. */
const opening = 50;
const configuration = JSON.stringify({
  streamingConfig: {
    config: { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" },
    interimResults: true,
  },
});

/**
 * Measures the memory (PSS) of the service's process with 10,000 idle sockets: at most 300 MiB. The
 * note also states the memory with PostgreSQL and engine processes, which does not grow with the
 * number of sockets.
 */
export async function measureIdle(service: MeasuredServer): Promise<Figure[]> {
  const before = await memoryOf(service);
  const startedAt = performance.now();
  const open: WebSocket[] = [];
  let refused = 0;
  let next = 0;
  const openers = Array.from({ length: opening }, async () => {
    while (next < sockets) {
      const address = `127.0.0.${1 + (next++ % 20)}`;
      const socket = await openSocket(service, address);
      if (socket) open.push(socket);
      else refused += 1;
    }
  });
  await Promise.all(openers);
  const tookMs = performance.now() - startedAt;
  await delay(idleMs);
  const after = await memoryOf(service);
  const alive = open.filter(({ readyState }) => readyState === WebSocket.OPEN).length;
  for (const socket of open) socket.terminate();
  const each = (1024 * (after.tree - before.tree)) / sockets;
  const note =
    `${after.service.toFixed(0)} MiB (${before.service.toFixed(0)} before, ${each.toFixed(1)} KiB per socket), opened in ${(tookMs / 1000).toFixed(1)} s; ` +
    `with PostgreSQL and engines ${after.tree.toFixed(0)} MiB (${before.tree.toFixed(0)} before)`;
  return [
    {
      name: "memory, 10,000 idle sockets",
      ratio: after.service / memoryMebibytesMax,
      ratioMax: 1,
      note,
    },
    {
      name: "idle sockets refused or closed",
      ratio: sockets - alive,
      ratioMax: 0,
      note: `${refused} refused, ${alive} still open`,
    },
  ];
}

/**
 * Opens a socket and sends its configuration. Returns undefined if the server refuses the socket.
 */
function openSocket(
  { url, token }: MeasuredServer,
  localAddress: string,
): Promise<WebSocket | undefined> {
  const target = `${url.replace("http", "ws")}/v2beta1/speech:streamingrecognize`;
  const socket = new WebSocket(target, ["Bearer", token], {
    localAddress,
    perMessageDeflate: false,
  });
  return new Promise((resolve) => {
    socket.on("error", () => resolve(undefined));
    socket.on("open", () => {
      socket.send(configuration, () => resolve(socket));
    });
  });
}

/** Returns the PSS of the service's process, and of its whole process tree, in mebibytes. */
async function memoryOf({ url }: MeasuredServer): Promise<{ service: number; tree: number }> {
  const pid = await listenerOf(Number(new URL(url).port));
  if (pid === undefined) throw new Error(`nothing listens at ${url}`);
  const roots = [pid, await ownPostgresOf(pid)].filter((root) => root !== undefined);
  const tree = await processTree(...roots);
  const each = await Promise.all(tree.map(({ pid }) => mebibytesOf(pid)));
  return {
    service: await mebibytesOf(pid),
    tree: each.reduce((sum, mebibytes) => sum + mebibytes, 0),
  };
}

async function mebibytesOf(pid: number): Promise<number> {
  return ((await pssBytes(pid)) ?? NaN) / (1 << 20);
}
