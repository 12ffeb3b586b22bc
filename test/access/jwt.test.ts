// JWTs that are each wrong in one respect, at every door. They are refused with the same message,
// with little CPU time, and without a call to another server.
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect, createServer, Socket } from "node:net";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { newKeyPair, type TestClientKey } from "../fixtures/auth-fixture.ts";
import { cpuMs } from "../fixtures/cpu-time.ts";
import { jwtOf, refusedJwts, type JwtParties } from "../fixtures/jwt-table.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { streamPath } from "../spec/stream.ts";

/** The maximum CPU time of a refusal, including the client's. */
const cpuMsMax = 20;
/**
 * The maximum ratio of the CPU time for a refused JWT to that for a refused API key, for which only
 * the form is checked. Measured: 1 to 2.2 times.
 */
const cpuRatioMax = 4;
/** A busy machine only adds time, so the minimum of up to this many calls counts. */
const attemptsMax = 12;
/** The same request ID for all calls, in case errors contain it. */
const requestId = "one-of-the-table";

let service: TestService;
let parties: Omit<JwtParties, "now">;

before(async () => {
  const publicUrl = "https://hlust.example";
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_PUBLIC_URL: publicUrl });
  const register = async (algorithm: "RS256" | "ES256" | "EdDSA"): Promise<TestClientKey> => {
    const { publicKey, privateKey } = newKeyPair(algorithm);
    const pem = publicKey.export({ type: "spki", format: "pem" });
    const { json } = await service.call("POST", "/v1/clientKeys", { publicKey: pem });
    return { id: json.keyId, clientId: json.clientId, publicKey, privateKey };
  };
  const [rsa, ec, ed, foreign] = [
    await register("RS256"),
    await register("ES256"),
    await register("EdDSA"),
    await register("ES256"),
  ];
  parties = { rsa, ec, ed, foreign, publicUrl, elsewhere: "", slackSeconds: 600 };
});
after(() => service[Symbol.asyncDispose]());

const now = (): number => Math.floor(Date.now() / 1000);

interface Refusal {
  readonly status: number;
  readonly challenge: string | undefined;
  readonly body: unknown;
}

/**
 * Returns the address that a row calls from. An address that sends many wrong tokens must wait.
 */
function addressOf(row: number): string {
  return `127.1.${Math.floor(row / 200)}.${(row % 200) + 1}`;
}

function request(path: string, localAddress: string, headers: Record<string, string>) {
  return new Promise<Refusal>((resolve, reject) => {
    const named = { ...headers, "x-request-id": requestId };
    const asked = get(service.address + path, { localAddress, headers: named, agent: false });
    asked.on("error", reject).on("response", (response: IncomingMessage) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => {
        const challenge = response.headers["www-authenticate"];
        const status = response.statusCode ?? 0;
        resolve({ status, challenge, body: text === "" ? "" : JSON.parse(text) });
      });
    });
    asked.on("upgrade", (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, challenge: undefined, body: undefined });
    });
  });
}

const doors: Record<string, (token: string, localAddress: string) => Promise<Refusal>> = {
  rest: (token, from) =>
    request("/v1alpha1/transcripts", from, { authorization: `Bearer ${token}` }),
  webSocket: (token, from) =>
    request(`${streamPath}?token=${token}`, from, {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }),
  async grpc(token, localAddress) {
    const { hostname: host, port } = new URL(service.address);
    const session = connectHttp2(service.address, {
      createConnection: () => connect({ host, port: Number(port), localAddress }),
    });
    try {
      const stream = session.request({
        ":method": "POST",
        ":path": "/hlust.transcripts.v1alpha1.Transcripts/ListTranscripts",
        "content-type": "application/grpc",
        te: "trailers",
        authorization: `Bearer ${token}`,
        "x-request-id": requestId,
      });
      stream.end(Buffer.alloc(5));
      let said: IncomingHttpHeaders = {};
      stream.on("response", (headers) => (said = { ...said, ...headers }));
      // The status is in the trailers, or in the headers if there is no message.
      stream.on("trailers", (trailers) => (said = { ...said, ...trailers }));
      stream.resume();
      await once(stream, "end");
      const status = Number(said["grpc-status"]);
      return { status, challenge: undefined, body: said["grpc-message"] };
    } finally {
      session.destroy();
    }
  },
};

/**
 * Returns the addresses, except the service's, that this process tried to connect to during `work`.
 */
async function connectionsDuring(work: () => Promise<void>): Promise<string[]> {
  const { port } = new URL(service.address);
  const seen: string[] = [];
  const onSocket = (facts: unknown) => {
    if (!isSocketFacts(facts)) return;
    facts.socket.on("connectionAttempt", (ip, to) => {
      if (`${to}` !== port) seen.push(`${ip}:${to}`);
    });
    facts.socket.on("lookup", (_error, _address, _family, host) => seen.push(host));
  };
  subscribe("net.client.socket", onSocket);
  try {
    await work();
  } finally {
    unsubscribe("net.client.socket", onSocket);
  }
  return seen;
}

function isSocketFacts(facts: unknown): facts is { socket: Socket } {
  return (
    typeof facts === "object" &&
    facts !== null &&
    "socket" in facts &&
    facts.socket instanceof Socket
  );
}

/**
 * Returns the least CPU time of several calls, in ms. No further call is made once one takes less
 * than `enoughMs`. `prepare` is not measured.
 */
async function leastCpuMs(
  enoughMs: number,
  prepare: () => () => Promise<unknown>,
): Promise<number> {
  let least = Infinity;
  for (let made = 0; made < attemptsMax && least >= enoughMs; made += 1) {
    const call = prepare();
    const began = cpuMs();
    await call();
    least = Math.min(least, cpuMs() - began);
  }
  return least;
}

test("every door accepts a valid JWT", async () => {
  const statuses = { rest: 200, webSocket: 101, grpc: 0 };
  for (const [door, status] of Object.entries(statuses)) {
    for (const key of [parties.rsa, parties.ec, parties.ed]) {
      const token = jwtOf({ ...parties, now: now() }, { key });
      const answer = await doors[door]?.(token, addressOf(0));
      assert.equal(answer?.status, status, door);
    }
  }
});

test("every door refuses every wrong JWT in the same way, with little CPU time and without network calls", async () => {
  await using elsewhere = createServer((socket) => socket.destroy());
  elsewhere.listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  const address = elsewhere.address();
  assert.ok(typeof address === "object" && address);
  const table = () =>
    refusedJwts({ ...parties, elsewhere: `http://127.0.0.1:${address.port}`, now: now() });
  const names = table().map(([name]) => name);
  assert.ok(names.length >= 40, `${names.length} rows`);

  const seen = await connectionsDuring(async () => {
    for (const [door, call] of Object.entries(doors)) {
      const refuseKey = async () => await call("hlust_x", addressOf(255));
      const expected = await refuseKey();
      assert.equal(expected.status, door === "grpc" ? 16 : 401);
      assert.equal(
        expected.challenge,
        door === "grpc" ? undefined : 'Bearer error="invalid_token"',
      );
      const keyMs = await leastCpuMs(0, () => refuseKey);
      const msMax = Math.min(cpuMsMax, cpuRatioMax * keyMs);
      for (const [row, [name, make]] of table().entries()) {
        const ms = await leastCpuMs(msMax, () => {
          const token = make();
          return async () => {
            const answer = await call(token, addressOf(row));
            const what = `${door}, ${name}: ${JSON.stringify(answer)}`;
            assert.ok(isDeepStrictEqual(answer, expected), what);
          };
        });
        assert.ok(
          ms < msMax,
          `${door}, ${name}: ${ms} ms of CPU; a refused API key takes ${keyMs}`,
        );
      }
    }
  });
  assert.deepEqual(seen, []);
  const own = await connectionsDuring(async () => {
    const socket = connect(address.port, "127.0.0.1").on("error", () => {});
    await new Promise((resolve) => socket.once("close", resolve));
  });
  assert.deepEqual(own, [`127.0.0.1:${address.port}`], "a connection would have been seen");
});
