// Refused sockets. A page gets the reason in a frame, and every other client gets an HTTP status.
// Neither can keep resources of the service in use.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { noteSecret } from "../spec/secrets.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { openStream, streamPath } from "../spec/stream.ts";
import { openTestStreams, token } from "../fixtures/open-test-streams.ts";
import { until } from "../fixtures/until.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_ACCOUNT_STREAMS: "1" });
});
after(() => service[Symbol.asyncDispose]());

/** The result of a handshake for the client. */
interface Outcome {
  /** The status of the response to the handshake; 101 if a socket opens. */
  readonly status: number;
  readonly protocol: string | undefined;
  readonly requestId: string | undefined;
  readonly error: { readonly code: number; readonly details: readonly Detail[] } | undefined;
  readonly closeCode: number;
}

interface Detail {
  readonly reason?: string;
  readonly retryDelay?: string;
}

/** Resolves with the close code. An error before the close is ignored. */
function closeOf(socket: WebSocket): Promise<number> {
  socket.on("error", () => {});
  return new Promise((resolve) => {
    socket.once("close", resolve);
  });
}

async function open(
  address: string,
  path: string,
  options: { readonly origin?: string; readonly protocols?: string[]; readonly bearer?: string },
): Promise<Outcome> {
  const { origin, protocols = [], bearer } = options;
  const socket = new WebSocket(`${address.replace("http", "ws")}${path}`, protocols, {
    headers: {
      ...(origin !== undefined && { origin }),
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    },
  });
  const messages: string[] = [];
  let answer: { statusCode?: number | undefined; headers: NodeJS.Dict<string | string[]> } = {
    headers: {},
  };
  socket.on("upgrade", (response) => (answer = response));
  socket.on("unexpected-response", (_, response) => {
    answer = response;
    response.setEncoding("utf8").on("data", (text: string) => messages.push(text));
    response.once("end", () => {
      socket.terminate();
    });
  });
  socket.on("message", (data: Buffer) => messages.push(data.toString()));
  const closeCode = await closeOf(socket);
  assert.ok(messages.length <= 1, messages.join());
  const { error } = messages[0] === undefined ? {} : JSON.parse(messages[0]);
  return {
    status: answer.statusCode ?? 0,
    protocol: answer.headers["sec-websocket-protocol"]?.toString(),
    requestId: answer.headers["x-request-id"]?.toString(),
    error,
    closeCode,
  };
}

test("a page gets the reason in an error frame and a close code; other clients get the HTTP status", async () => {
  const { address, key } = service;
  const made = await service.call("POST", "/v1/apiKeys", {
    displayName: "reads",
    scopes: ["transcripts.read"],
  });
  const { secret } = made.json;
  noteSecret(secret, "credential");
  const busy = await openStream(address, { token: key });
  const by = (token: string) => `${streamPath}?token=${token}`;
  await until(async () => {
    const { json } = await service.call("GET", "/v1/account");
    return json.usage.concurrentStreams === 1;
  });
  const rows: [
    reason: string,
    status: number,
    closeCode: number,
    path: string,
    options?: { protocols?: string[]; bearer?: string; origin?: string },
  ][] = [
    ["TOKEN_MISSING", 401, 1008, streamPath],
    ["TOKEN_INVALID", 401, 1008, by("wrong")],
    ["TOKEN_INVALID", 401, 1008, streamPath, { protocols: ["Bearer", "wrong"] }],
    ["SCOPE_MISSING", 403, 1008, by(secret)],
    ["SEVERAL_TOKENS", 400, 1008, by(key), { protocols: ["Bearer", "other"] }],
    ["TOO_MANY_STREAMS", 429, 1013, by(key)],
    ["TOO_MANY_STREAMS", 429, 1013, streamPath, { protocols: ["Bearer", key] }],
    ["ROUTE_NOT_FOUND", 404, 1008, `/v2beta1/nothing?token=${key}`],
    ["METHOD_NOT_ALLOWED", 405, 1008, `/v2beta1/models?token=${key}`],
  ];
  for (const [reason, status, closeCode, path, options = {}] of rows) {
    const what = `${reason} ${path.slice(0, 60)}`;
    const page = await open(address, path, { origin: address, ...options });
    assert.equal(page.status, 101, what);
    const said = page.error?.details ?? [];
    assert.equal(said.find((detail) => detail.reason !== undefined)?.reason, reason, what);
    assert.equal(page.closeCode, closeCode, what);
    const hasRetry = said.some(({ retryDelay }) => retryDelay !== undefined);
    assert.equal(hasRetry, closeCode === 1013, what);
    assert.equal(page.protocol, options.protocols && "Bearer", "never the token");
    assert.ok(page.requestId);
    const program = await open(address, path, options);
    assert.equal(program.status, status, what);
    assert.equal(program.error?.code, status, what);
  }
  busy.terminate();
});

test("a page of another origin is refused because of its origin, and its token is not checked", async () => {
  await using streams = await openTestStreams(token, { publicUrl: () => "https://hlust.example" });
  const origin = "https://evil.example";
  const answer = await open(streams.address, `/v1/talk?token=${token}`, { origin });
  assert.deepEqual([answer.status, answer.closeCode], [101, 1008]);
  assert.equal(answer.error?.details[0]?.reason, "ORIGIN_REFUSED");
  assert.deepEqual(streams.seen.tokens, []);
});

/**
 * Sends a handshake written by hand, as a page that never closes its socket. `text` returns
 * everything that was received.
 */
function rawHandshake(address: string): { readonly socket: Socket; readonly text: () => string } {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => (text += part));
  socket.on("error", () => {});
  socket.write(
    [
      `GET ${streamPath} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Origin: http://${hostname}:${port}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
      "\r\n",
    ].join("\r\n"),
  );
  return { socket, text: () => text };
}

test("refused sockets that stay open are closed, and their number is limited", async () => {
  const { address } = service;
  const statuses: string[] = [];
  const closed: Promise<unknown>[] = [];
  // Places are free again after 2 s, so it may take several attempts on a busy machine to occupy
  // all of them.
  for (let attempts = 0; attempts < 10 && !statuses.includes("401"); attempts += 1) {
    const held = Array.from({ length: 140 }, () => rawHandshake(address));
    closed.push(...held.map(async ({ socket }) => once(socket, "close")));
    await until(() => Promise.resolve(held.every(({ text }) => text().includes("\r\n"))));
    statuses.push(...held.map(({ text }) => text().split(" ")[1] ?? ""));
  }
  assert.deepEqual(new Set(statuses), new Set(["101", "401"]));
  assert.ok(statuses.filter((status) => status === "101").length >= 100, statuses.join());
  // The clients send nothing more, so the service closes the sockets.
  await Promise.all(closed);
  const again = await open(address, streamPath, { origin: address });
  assert.deepEqual([again.status, again.closeCode], [101, 1008], "places are free again");
});

test("further messages from a refused page are dropped", async () => {
  const { address } = service;
  const url = `${address.replace("http", "ws")}${streamPath}`;
  const socket = new WebSocket(url, { headers: { origin: address } });
  const closed = closeOf(socket);
  const messages: string[] = [];
  socket.on("message", (data: Buffer) => messages.push(data.toString()));
  socket.once("open", () => {
    socket.send("x".repeat(1 << 20));
  });
  assert.equal(await closed, 1008);
  assert.match(messages.join(), /^\{"error":\{.*TOKEN_MISSING/);
});
