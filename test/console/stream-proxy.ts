import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A line to a service that can hold back what comes on streams of events, and break them. */
export interface StreamProxy extends AsyncDisposable {
  readonly address: string;
  /** Holds back what the service sends on the streams that are open now, not on later ones. */
  hold(): void;
  /** Returns what is held back. */
  held(): string;
  /** Ends the connections of the streams that are open now. */
  breakStreams(): void;
}

interface Line {
  readonly client: Socket;
  isStream: boolean;
  /** What is held back; undefined if nothing is. */
  held: string | undefined;
}

/** Opens a proxy to a service. Its pages are the same as those of the service. */
export async function openStreamProxy(service: string): Promise<StreamProxy> {
  const { hostname, port } = new URL(service);
  const lines = new Set<Line>();
  const server = createServer((client) => {
    const line: Line = { client, isStream: false, held: undefined };
    const far = connect(Number(port), hostname);
    lines.add(line);
    client.on("error", () => {}).on("close", () => far.destroy());
    far.on("error", () => {}).on("close", () => client.destroy());
    client.on("close", () => lines.delete(line));
    client.on("data", (chunk: Buffer) => {
      // Over HTTP/1.1 a connection has one request at a time.
      line.isStream = /^GET \S*:watch\?/.test(chunk.toString("latin1"));
      far.write(chunk);
    });
    far.on("data", (chunk: Buffer) => {
      if (line.held === undefined) client.write(chunk);
      else line.held += chunk.toString();
    });
  });
  server.listen(0, hostname);
  await once(server, "listening");
  const bound = server.address();
  assert.ok(typeof bound === "object" && bound !== null);
  const streams = () => [...lines].filter(({ isStream }) => isStream);
  return {
    address: `http://${hostname}:${bound.port}`,
    hold() {
      for (const line of streams()) line.held ??= "";
    },
    held: () => streams().reduce((all, { held = "" }) => all + held, ""),
    breakStreams() {
      for (const { client } of streams()) client.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const { client } of lines) client.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
