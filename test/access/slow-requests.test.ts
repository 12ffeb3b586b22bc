// Connections that send or read next to nothing. Each is closed at its limit, and other clients are
// not affected (threat 61). The limits are shortened; bench/slow.ts measures the real ones.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { after, before, test } from "node:test";
import { openTestStreams, token, type TestStreams } from "../fixtures/open-test-streams.ts";
import { frame, request } from "./http2-frames.ts";
import { latenciesUntil, quantile, slowCallers, type SlowCaller } from "./slow-caller.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

const count = 40;
/** The time limit for headers and unread answers. */
const limitMs = 1_000;
/**
 * The time limit for stalled bodies. It is longer than the delay of a trickle on a busy machine,
 * which would otherwise also count as stalled.
 */
const bodyMs = 4_000;
/** How long the rest of a refused body is read and dropped. */
const droppedMs = 5_000;
/** The time after which a connection that was asked to end is cut. */
const endMs = 5_000;
/**
 * The margin for busy machines, which close connections late; without a limit, the connections
 * would never be closed.
 */
const latenessMs = 60_000;

let service: TestStreams;
before(async () => {
  service = await openTestStreams(token, {
    limits: {
      headersMsMax: limitMs,
      idleMsMax: limitMs,
      unsentMsMax: limitMs,
      bytesPerSecondMin: 64 << 20,
    },
    bodyLimits: { idleMsMax: bodyMs, bytesPerSecondMin: 1 << 10 },
  });
});
after(() => service[Symbol.asyncDispose]());

const bearer = { authorization: `Bearer ${token}` };
const authorization = `Authorization: Bearer ${token}\r\n`;
const post = (path: string, headers: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n${headers}\r\n{`;
const proto = "Content-Type: application/proto\r\nConnect-Protocol-Version: 1\r\n";
const wait = "/streams.v1.Streams/Wait";
const large = `GET /v1/file?size=${4 << 20} HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`;

interface Row extends Omit<SlowCaller, "address"> {
  readonly count?: number;
  /** The limit after which the connection is closed. Default: limitMs. */
  readonly limitMs?: number;
  /** The pattern that the response must match. Default: any response. */
  readonly answer?: RegExp;
}

/** The start of an HTTP/2 connection with flow control windows that never fill. */
const h2 = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame("SETTINGS", 0, Buffer.from("00047fffffff", "hex")),
  frame("WINDOW_UPDATE", 0, Buffer.from("7f000000", "hex")),
]);
const calm = frame("RST_STREAM", 1, Buffer.from("0000000b", "hex"));
const ping = frame("PING", 0, Buffer.alloc(8));
const grpc = { "content-type": "application/grpc", te: "trailers" };

const rows: Readonly<Record<string, Row>> = {
  "nothing at all": { first: "", answer: /^$/ },
  "the preface of HTTP/2, letter by letter": {
    first: "P",
    drip: Array.from("RI * HTTP/2.0\r\n"),
    answer: /^$/,
  },
  "headers that never end": {
    first: "GET / HTTP/1.1\r\nHost: a\r\n",
    drip: "x: y\r\n",
    answer: /^HTTP\/1\.1 408 [^]*MALFORMED_HTTP/,
  },
  "headers of a second request that never end": {
    first: "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n",
    drip: "x: y\r\n",
    answer: /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 408 /,
  },
  "a body in a trickle": {
    first: post("/v1/count", authorization),
    drip: " ",
    limitMs: bodyMs + droppedMs,
    answer: /^HTTP\/1\.1 504 [^]*arrived more slowly than 1024 bytes a second/,
  },
  "a stalled body": {
    first: post("/v1/count", authorization),
    limitMs: bodyMs + droppedMs,
    answer: /^HTTP\/1\.1 504 [^]*stalled for 4 s/,
  },
  "a body without a token, in a trickle": {
    first: post("/v1/count", ""),
    drip: " ",
    limitMs: droppedMs,
    answer: /^HTTP\/1\.1 401 /,
  },
  "a body of Connect in a trickle": {
    first: post(wait, authorization + proto),
    drip: "x",
    limitMs: bodyMs + droppedMs,
    answer: /^HTTP\/1\.1 504 [^]*deadline_exceeded[^]*arrived more slowly/,
  },
  "a body of Connect without a token, in a trickle": {
    first: post(wait, proto),
    drip: "x",
    limitMs: droppedMs,
    answer: /^HTTP\/1\.1 401 [^]*unauthenticated/,
  },
  "an unexpected body, in a trickle": {
    first: "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n",
    drip: "x",
    limitMs: droppedMs,
    answer: /^HTTP\/1\.1 200 /,
  },
  "an answer that is not read": { first: large, drip: "x", reads: false, count: 3 },
  "answers that are not read, of requests without end": {
    first: large.repeat(3),
    drip: large,
    reads: false,
    count: 3,
  },
  "HTTP/2 without a call, but pings": {
    first: h2,
    drip: ping,
    limitMs: limitMs + endMs,
  },
  "HTTP/2 with half a call": {
    first: Buffer.concat([h2, request(1, { ":method": "GET", ":path": "/" }).subarray(0, 12)]),
    drip: "\0",
    limitMs: limitMs + endMs,
  },
  "a body of gRPC in a trickle": {
    first: Buffer.concat([
      h2,
      request(1, { ":method": "POST", ":path": wait, ...grpc, ...bearer }),
    ]),
    drip: frame("DATA", 1, Buffer.from("\0")),
    // The call is closed first, and then the connection, which has no other calls.
    limitMs: bodyMs + limitMs + endMs,
  },
  "an answer over HTTP/2 for which there is no window": {
    first: Buffer.concat([
      h2,
      frame("SETTINGS", 0, Buffer.from("000400000000", "hex")),
      request(1, { ":method": "GET", ":path": "/v1/file?size=100000", ...bearer }),
    ]),
    limitMs: 2 * limitMs + endMs,
    // RST_STREAM of stream 1 with ENHANCE_YOUR_CALM.
    answer: new RegExp(calm.toString("latin1")),
  },
  "an answer over HTTP/2 that is not read": {
    first: Buffer.concat([
      h2,
      request(1, { ":method": "GET", ":path": `/v1/file?size=${4 << 20}`, ...bearer }),
    ]),
    drip: ping,
    reads: false,
    count: 4,
    limitMs: 2 * limitMs + endMs,
  },
  "calls over HTTP/2 that are reset as fast as they are sent": {
    first: Buffer.concat([
      h2,
      ...Array.from({ length: 1_500 }, (_, n) => [
        request(2 * n + 1, { ":method": "GET", ":path": "/" }),
        frame("RST_STREAM", 2 * n + 1, Buffer.from("00000008", "hex")),
      ]).flat(),
    ]),
    drip: ping,
    count: 3,
    limitMs: limitMs + endMs,
  },
};

test(
  "slow connections are closed at their limits, while other clients are served",
  { timeout: 150_000 * cpuSlowness },
  async (t) => {
    const { address } = service;
    const attacks = Object.entries(rows).map(async ([name, row]) => {
      const { count: times = count, limitMs: ms = limitMs, answer, ...caller } = row;
      return { name, ms, answer, treated: await slowCallers(times, { ...caller, address }) };
    });
    // All connections run concurrently, so that the test takes no longer than the slowest one.
    const over = Promise.all(attacks);
    const healthMs = await latenciesUntil(address, over);
    for (const { name, ms, answer, treated } of await over) {
      const lastMs = Math.max(...treated.map((each) => each.ms));
      t.diagnostic(`${name}: ${treated.length} cut by ${lastMs.toFixed(0)} ms (limit ${ms})`);
      for (const each of treated) if (answer) assert.match(each.answer, answer, name);
      assert.ok(lastMs < ms + latenessMs, `${name}: ${lastMs} ms`);
    }
    const [half, most] = [quantile(healthMs, 0.5), quantile(healthMs, 0.99)];
    t.diagnostic(`health: p50 ${half.toFixed(0)} ms, p99 ${most.toFixed(0)} ms`);
    assert.ok(half < 1_000, `health took ${half} ms`);
  },
);

test("gRPC reports why it ended a call, and checks the token before the body", async () => {
  const session = connect(service.address);
  const ask = async (headers: Readonly<Record<string, string>>) => {
    const stream = session.request({ ":method": "POST", ":path": wait, ...grpc, ...headers });
    stream.on("error", () => {});
    stream.write(Buffer.from([0, 0, 0, 0, 9]));
    let status: unknown;
    stream.on("response", (answer) => (status ??= answer["grpc-status"]));
    stream.on("trailers", (answer) => (status ??= answer["grpc-status"]));
    await once(stream.resume(), "close");
    return status;
  };
  assert.equal(await ask(bearer), "4");
  assert.equal(await ask({}), "16");
  session.close();
});
