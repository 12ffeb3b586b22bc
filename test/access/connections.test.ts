// The limits on connections, per address and in total, and the responses to requests that are not
// calls.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { openTestStreams, token, type TestStreams } from "../fixtures/open-test-streams.ts";
import { until } from "../fixtures/until.ts";

const [perAddressMax, max] = [20, 50];
const [many, exempt, other] = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];

let service: TestStreams;
before(async () => {
  const isExempt = (address: string) => address === exempt;
  service = await openTestStreams(token, {
    limits: { connections: { max, perAddressMax, isExempt } },
  });
});
after(() => service[Symbol.asyncDispose]());

interface Connection {
  readonly socket: Socket;
  readonly text: () => string;
  readonly isOver: () => boolean;
}

async function open(localAddress: string): Promise<Connection> {
  const { hostname: host, port } = new URL(service.address);
  const socket = connect({ host, port: Number(port), localAddress });
  let text = "";
  let isOver = false;
  socket.setEncoding("latin1").on("data", (part: string) => (text += part));
  const end = () => {
    isOver = true;
  };
  socket.on("end", end).on("close", end).on("error", end);
  await once(socket, "connect");
  return { socket, text: () => text, isOver: () => isOver };
}

/**
 * Opens this many connections. The service closes those over its limits, so `staying` of them
 * remain open.
 */
async function flood(count: number, localAddress: string, staying: number): Promise<Connection[]> {
  const all = await Promise.all(Array.from({ length: count }, () => open(localAddress)));
  const left = () => all.filter(({ isOver }) => !isOver()).length;
  await until(async () => left() <= staying);
  assert.equal(left(), staying);
  return all;
}

async function closeAll(connections: readonly Connection[]): Promise<void> {
  await Promise.all(
    connections.map(async ({ socket }) => {
      socket.destroy();
      if (!socket.closed) await once(socket, "close");
    }),
  );
}

/** Returns the status of a call from an address. */
async function statusFrom(localAddress: string, agent?: Agent): Promise<number> {
  return await new Promise((resolve, reject) => {
    get(
      `${service.address}/healthz`,
      { localAddress, ...(agent ? { agent } : { agent: false }) },
      (answer) => {
        answer.resume();
        answer.on("end", () => {
          resolve(answer.statusCode ?? 0);
        });
      },
    ).on("error", reject);
  });
}

test("an address above its limit is refused with a reason, while others are served", async () => {
  const connections = await flood(120, many, perAddressMax);
  const refused = connections.filter(({ text }) => text() !== "");
  assert.ok(refused.length >= 1 && refused.length <= 100, `${refused.length} were refused`);
  for (const { text } of refused) {
    assert.match(text(), /^HTTP\/1\.1 429 [^]*retry-after: 1\r\n[^]*TOO_MANY_CONNECTIONS/);
    assert.match(text(), /x-request-id: /);
  }
  assert.equal(await statusFrom(other), 200);
  await closeAll(connections);
  await until(async () => (await statusFrom(many)) === 200);
});

test("an exempt address has no limit of its own; above the limit for all addresses, connections get 503 and Retry-After", async () => {
  const connections = await flood(max + 10, exempt, max);
  const refused = connections.filter(({ text }) => text() !== "");
  assert.ok(refused.length >= 1);
  for (const { text } of refused) assert.match(text(), /^HTTP\/1\.1 503 [^]*retry-after: 1\r\n/);
  await until(async () => (await statusFrom(other)) === 503);
  await closeAll(connections);
  await until(async () => (await statusFrom(other)) === 200);
});

test("idle connections are closed to make room for new connections", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: max, maxFreeSockets: max });
  // Connections of the previous test may still be open.
  await until(async () => {
    const calls = Array.from({ length: max }, () => statusFrom(exempt, agent));
    return (await Promise.all(calls)).every((status) => status === 200);
  });
  assert.equal(Object.values(agent.freeSockets).flat().length, max);
  // The service looks for idle connections ten times a second.
  await until(async () => (await statusFrom(other)) === 200);
  agent.destroy();
});

test("requests for proxying, tracing, files and unknown methods are refused", async () => {
  const ask = async (line: string) => {
    const connection = await open(other);
    connection.socket.write(
      `${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: a=b\r\n\r\n`,
    );
    await until(async () => connection.isOver());
    connection.socket.destroy();
    return connection.text();
  };
  const rows: [line: string, status: number][] = [
    ["CONNECT example.com:443", 405],
    ["TRACE /v1/wait", 405],
    ["TRACE /", 404],
    ["OPTIONS *", 400],
    ["PROPFIND /v1/wait", 405],
    ["BREW /v1/wait", 400],
    ["GET /.git/config", 404],
    ["GET /src/server/server.ts", 404],
    ["GET /main.js.map", 404],
    ["GET /docs/", 404],
    ["GET /docs/../../package.json", 404],
    ["GET /media", 404],
    ["GET /..%2f..%2fetc/passwd", 404],
    ["GET /%00", 404],
  ];
  for (const [line, status] of rows) {
    const text = await ask(line);
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), line);
    assert.match(text, /\r\n\r\n\{"code":/, line);
    assert.doesNotMatch(text, /a=b|x-powered-by|\r\nserver:|node_modules|\.ts:|\n +at /i, line);
  }
  const session = connectHttp2(service.address);
  for (const [method, path, status] of [
    ["TRACE", "/v1/wait", 405],
    ["BREW", "/v1/wait", 405],
    ["GET", "/.git/config", 404],
  ] as const) {
    const stream = session.request({ ":method": method, ":path": path });
    const [headers] = await once(stream, "response");
    assert.equal(headers[":status"], status, `${method} ${path}`);
    await once(stream.resume(), "close");
  }
  const tunnel = session.request({ ":method": "CONNECT", ":authority": "example.com:443" });
  tunnel.on("error", () => {});
  const [headers] = await once(tunnel, "response");
  assert.ok([404, 405].includes(headers[":status"]), `${headers[":status"]}`);
  session.destroy();
});
