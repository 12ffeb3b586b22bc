import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { openDiskStore } from "../src/media/disk-store.ts";
import { fetchMedia, type FetchMediaOptions } from "../src/media/fetch-media.ts";
import type { StoredMedia } from "../src/media/media-store.ts";
import { parseMediaAllowList } from "../src/media/media-url.ts";
import { newId } from "../src/std/ids.ts";
import { createLog } from "../src/std/log.ts";
import { ServiceError } from "../src/std/service-error.ts";

export const loopback = parseMediaAllowList(["127.0.0.1"]);

/** A store of its own to fetch into. */
export interface FetchFixture extends AsyncDisposable {
  readonly folder: string;
  /** `kept`: SHA-256 of what is in the store, in hexadecimal. */
  fetched(
    url: string,
    options?: Partial<FetchMediaOptions>,
  ): Promise<StoredMedia & { readonly kept: string }>;
}

export async function openFetchFixture(): Promise<FetchFixture> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "hlust-fetch-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const store = opened.use(await openDiskStore(folder, { log: createLog("silent") }));
  const parts = opened.move();
  return {
    folder,
    async fetched(url, options = {}) {
      const id = newId();
      const stored = await fetchMedia({
        url,
        id,
        store,
        allow: loopback,
        bytesMax: 50_000_000,
        ...options,
        limits: { backoffMs: 5, ...options.limits },
      });
      const bytes = await buffer(await store.open(id));
      return { ...stored, kept: createHash("sha256").update(bytes).digest("hex") };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

export async function serve(
  listener: RequestListener,
  host = "127.0.0.1",
): Promise<{ url: string; port: number } & AsyncDisposable> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server whose answers are written by hand, byte by byte; `answer` is called once a request has begun to come. */
export async function serveRaw(
  answer: (socket: Socket) => void,
): Promise<{ url: string; port: number } & AsyncDisposable> {
  return await serveTcp((socket) => socket.once("data", () => answer(socket)));
}

export async function serveTcp(
  connected: (socket: Socket) => void,
  host = "127.0.0.1",
): Promise<{ url: string; port: number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // Whoever connected may go away at any time.
    socket.on("error", () => {});
    connected(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server on every address of this machine, IPv4 and IPv6, that nobody may reach. */
export async function openCanary(): Promise<
  { readonly port: number; connections(): number } & AsyncDisposable
> {
  let connections = 0;
  const server = await serveTcp((socket) => {
    connections++;
    socket.destroy();
  }, "::");
  return { ...server, connections: () => connections };
}

export interface Refusal {
  readonly reason: string;
  readonly message: RegExp;
}

export async function refused(
  promise: Promise<unknown>,
  { reason, message }: Refusal,
): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.reason, reason, error.message);
    assert.match(error.message, message);
    return true;
  });
}

export const media = randomBytes(3_000_000);

/** Answers ranges of `media`, like an object store. */
export function answerRange(
  request: IncomingMessage,
  response: ServerResponse,
  etag = '"one"',
): void {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  const isSame = request.headers["if-range"] === undefined || request.headers["if-range"] === etag;
  const start = isSame ? from : 0;
  response.setHeader("etag", etag);
  response.setHeader("content-length", media.length - start);
  if (start > 0) {
    response.statusCode = 206;
    response.setHeader("content-range", `bytes ${start}-${media.length - 1}/${media.length}`);
  }
  response.end(media.subarray(start));
}

/** In hexadecimal. */
export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
