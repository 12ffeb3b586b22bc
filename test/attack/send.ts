import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  connect as connectHttp2,
  constants,
} from "node:http2";
import { connect, type Socket } from "node:net";
import { Agent, request as send } from "undici";
import type { NodeUnderAttack } from "./node-under-attack.ts";

/** The target of an attacker's calls, and the credential for them. */
export type Target = Pick<NodeUnderAttack, "address" | "token">;

/**
 * The number of bytes per write, so that the attacker's thread serves other calls between writes.
 */
const partBytes = 1 << 20;

const agent = new Agent({ headersTimeout: 120_000, bodyTimeout: 120_000, connections: 128 });

/**
 * Makes a call; resolves to the status and the first characters of the response, or to a
 * description of the failure if the call fails.
 */
export async function ask(
  { address, token }: Target,
  path: string,
  options: {
    readonly method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | Buffer;
  } = {},
): Promise<string> {
  try {
    const answer = await send(`${address}${path}`, {
      method: options.method ?? (options.body === undefined ? "GET" : "POST"),
      headers: { authorization: `Bearer ${token}`, ...json, ...options.headers },
      body: options.body ?? null,
      dispatcher: agent,
    });
    let bytes = 0;
    let head = "";
    for await (const chunk of answer.body) {
      const part: Buffer = chunk;
      if (head.length < 300) head += part.toString("latin1", 0, 300);
      bytes += part.length;
    }
    return `${answer.statusCode}, ${bytes} bytes: ${head.slice(0, 300)}`;
  } catch (error) {
    return `failed: ${String(error)}`;
  }
}

const json = { "content-type": "application/json" };

/** Returns the headers of a Connect request. */
export function connectHeaders(
  encoding: "json" | "proto",
  compression?: "gzip" | "br",
): Record<string, string> {
  return {
    "content-type": `application/${encoding}`,
    "connect-protocol-version": "1",
    ...(compression && { "content-encoding": compression }),
  };
}

/** Wraps a message in the envelope of gRPC, gRPC-Web and the streams of Connect. */
export function envelope(message: Uint8Array, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isCompressed ? 1 : 0, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Opens a socket whose errors are expected. */
export async function openSocket({ address }: Target): Promise<Socket> {
  const { port } = new URL(address);
  const socket = connect({ host: "127.0.0.1", port: Number(port), noDelay: true });
  socket.on("error", () => {});
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  return socket;
}

/**
 * Writes as fast as the other side reads. Resolves to false if the other side has closed the
 * connection, or reads nothing for `msMax`.
 */
export async function write(
  socket: Socket | ClientHttp2Stream,
  bytes: Buffer,
  msMax = 5_000,
): Promise<boolean> {
  for (let at = 0; at < bytes.length; at += partBytes) {
    if (socket.destroyed || !socket.writable) return false;
    if (socket.write(bytes.subarray(at, at + partBytes))) continue;
    const waited = new AbortController();
    const { signal } = waited;
    const timer = setTimeout(() => waited.abort(), msMax);
    try {
      await Promise.race([once(socket, "drain", { signal }), once(socket, "close", { signal })]);
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
      waited.abort();
    }
  }
  return true;
}

/** Returns the head of an HTTP/1.1 request. */
export function requestHead(
  { token }: Target,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const all = { Host: "a", Authorization: `Bearer ${token}`, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Opens an HTTP/2 connection whose windows never fill. */
export async function openSession({ address }: Target): Promise<ClientHttp2Session> {
  const session = connectHttp2(address, { settings: { initialWindowSize: 2 ** 31 - 1 } });
  session.on("error", () => {});
  await Promise.race([once(session, "connect"), once(session, "close")]);
  if (!session.destroyed) session.setLocalWindowSize(2 ** 31 - 1);
  return session;
}

/** Begins a gRPC call to which messages can be written. */
export function openGrpc(
  session: ClientHttp2Session,
  { token }: Target,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): ClientHttp2Stream {
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: "POST",
    [constants.HTTP2_HEADER_PATH]: path,
    "content-type": "application/grpc",
    te: "trailers",
    "grpc-encoding": "gzip",
    authorization: `Bearer ${token}`,
    ...headers,
  });
  return stream.on("error", () => {});
}

/** Waits for the end of a gRPC call; resolves to its status. */
async function grpcStatus(stream: ClientHttp2Stream, msMax = 120_000): Promise<string> {
  let status = "no status";
  const read = (headers: IncomingHttpHeaders): void => {
    const [code, message] = ["grpc-status", "grpc-message"].map((name) => headers[name]);
    if (code !== undefined) status = `grpc-status ${[code, message].join(" ")}`;
  };
  stream.on("response", read).on("trailers", read).resume();
  if (!stream.closed) {
    await once(stream, "close", { signal: AbortSignal.timeout(msMax) }).catch(() => {});
  }
  return status.slice(0, 300);
}

/** Makes a gRPC call with one message; resolves to the response and the status. */
export async function askGrpc(
  target: Target,
  path: string,
  message: Uint8Array,
  { isCompressed = false }: { readonly isCompressed?: boolean } = {},
): Promise<string> {
  const session = await openSession(target);
  try {
    const stream = openGrpc(session, target, path);
    const status = grpcStatus(stream);
    await write(stream, envelope(message, isCompressed));
    if (stream.writable) stream.end();
    return await status;
  } finally {
    session.destroy();
  }
}
