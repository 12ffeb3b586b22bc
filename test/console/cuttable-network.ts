import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream";

/** A SOCKS proxy for all traffic of a browser, which can interrupt the traffic. */
export interface CuttableNetwork extends AsyncDisposable {
  /** The arguments that make Chromium use the proxy, even for addresses of this machine. */
  readonly args: readonly string[];
  /** Closes every connection and refuses new ones. */
  cut(): void;
  restore(): void;
}

/**
 * The proxy's messages in RFC 1928: version 5 without authentication, and the response to CONNECT.
 */
const greeting = Buffer.from([5, 0]);
const connected = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

export async function openCuttableNetwork(): Promise<CuttableNetwork> {
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    if (isCut) socket.destroy();
    else {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("error", () => {});
      void serve(socket).catch(() => socket.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the network is not bound");
  return {
    args: [`--proxy-server=socks5://127.0.0.1:${bound.port}`, "--proxy-bypass-list=<-loopback>"],
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    restore() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function serve(socket: Socket): Promise<void> {
  const [, methods = 0] = await read(socket, 2);
  await read(socket, methods);
  socket.write(greeting);
  const { 3: kind } = await read(socket, 4);
  const length = kind === 3 ? ((await read(socket, 1))[0] ?? 0) : 4;
  const address = await read(socket, length);
  const host = kind === 3 ? address.toString() : address.join(".");
  const port = (await read(socket, 2)).readUInt16BE();
  const target = connect(port, host);
  await once(target, "connect");
  socket.write(connected);
  pipeline(socket, target, socket, () => {});
}

async function read(socket: Socket, length: number): Promise<Buffer> {
  for (;;) {
    const bytes: Buffer | null = socket.read(length);
    if (bytes !== null) return bytes;
    await once(socket, "readable");
  }
}
