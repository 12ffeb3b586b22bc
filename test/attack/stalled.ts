import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "./attack.ts";
import type { NodeUnderAttack } from "./node-under-attack.ts";
import { filled, largestBytes, rpc } from "./payloads.ts";
import { connectHeaders, openGrpc, openSession, openSocket, requestHead, write } from "./send.ts";

const json = { "Content-Type": "application/json" };
/** The number of bytes that are not sent. */
const missingBytes = 1_000;
/** How long the bodies stall. */
const stallMs = 1_000;

/** Bodies that are sent without their end, so that the service keeps them in memory. */
export const stalledAttacks: readonly Attack[] = [
  // 60 such bodies once ended the process.
  bodies("60 of 32 MiB to REST", { path: "/v1alpha1/transcripts", headers: json, isInGate: true }),
  bodies("60 of 32 MiB to Connect", { path: rpc.get, headers: connectHeaders("json") }),
  bodies("60 of 16 MiB to REST's import", {
    path: "/v1alpha1/transcripts:import",
    headers: json,
    bytes: 16 << 20,
  }),
  bodies("500 of 4 MiB to recognize", {
    path: "/v2beta1/speech:recognize",
    headers: json,
    bytes: 4 << 20,
    count: 500,
  }),
  bodies("900 of 1 MiB to REST", {
    path: "/v1alpha1/transcriptjob:submit",
    headers: json,
    bytes: 1 << 20,
    count: 900,
  }),
  bodies("900 of 1 MiB to the console's sign-in", {
    path: "/console/session",
    headers: json,
    bytes: 1 << 20,
    count: 900,
  }),
  messages("60 messages of 32 MiB to streams of gRPC", rpc.stream, "application/grpc"),
  messages("60 messages of 32 MiB to calls of gRPC", rpc.create, "application/grpc"),
  messages("60 messages of 32 MiB to gRPC-Web", rpc.create, "application/grpc-web+proto"),
  messages("60 messages of 32 MiB to streams of Connect", rpc.stream, "application/connect+proto"),
];

function bodies(
  name: string,
  options: {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly isInGate?: boolean;
    readonly bytes?: number;
    readonly count?: number;
  },
): Attack {
  const { path, headers, isInGate = false, bytes = largestBytes, count = 60 } = options;
  return {
    name: `stalled: ${name}`,
    isInGate,
    prepare: async (node) => {
      const body = Buffer.concat([Buffer.from("{"), filled(" ", bytes - missingBytes)]);
      const length = { "Content-Length": `${bytes}` };
      const head = requestHead(node, "POST", path, { ...headers, ...length });
      return async () => await stallBodies(node, { head, body, count });
    },
  };
}

async function stallBodies(
  node: NodeUnderAttack,
  { head, body, count }: { readonly head: string; readonly body: Buffer; readonly count: number },
): Promise<string> {
  const answers = new Map<string, number>();
  const sockets: Socket[] = [];
  const stall = async (): Promise<void> => {
    const socket = await openSocket(node);
    sockets.push(socket);
    socket.once("data", (data: Buffer) => {
      const status = data.toString("latin1", 9, 12);
      answers.set(status, (answers.get(status) ?? 0) + 1);
    });
    socket.write(head);
    await write(socket, body);
  };
  await Promise.all(Array.from({ length: count }, stall));
  await sleep(stallMs);
  for (const socket of sockets) socket.destroy();
  return [...answers].map(([status, times]) => `${times} of ${count} answered ${status}`).join();
}

function messages(name: string, path: string, contentType: string): Attack {
  return {
    name: `stalled: ${name}`,
    isInGate: path === rpc.stream && contentType === "application/grpc",
    prepare: async (node) => {
      const message = Buffer.alloc(largestBytes - missingBytes);
      message.writeUInt32BE(largestBytes - 5, 1);
      return async () => {
        const session = await openSession(node);
        const headers = { "content-type": contentType, "grpc-encoding": "identity" };
        let whole = 0;
        const stall = async (): Promise<void> => {
          const stream = openGrpc(session, node, path, headers);
          stream.resume();
          // write() abandons a connection that is not read.
          if (await write(stream, message)) whole += 1;
        };
        await Promise.all(Array.from({ length: 60 }, stall));
        await sleep(stallMs);
        session.destroy();
        return `${whole} of 60 were read completely`;
      };
    },
  };
}
