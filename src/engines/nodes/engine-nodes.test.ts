// Tests a node that uses the processes of engine nodes, all in this process, over real sockets.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect as connectHttp2, createServer, type Http2Session } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { pino } from "pino";
import {
  finalsWithoutPool,
  openInput,
  recognize,
  scriptedOptions,
  speech,
  until,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { silence } from "../../../test/fixtures/flite.ts";
import {
  openEngineNode,
  openNodesPool,
  type OpenEngineNode,
  untilReady,
} from "../../../test/fixtures/open-engine-node.ts";
import { openTestAuthority } from "../../../test/fixtures/test-authority.ts";
import { Engines, ServeRequestSchema } from "../../gen/hlust/engine/v1/engine_pb.ts";
import { readCertificate } from "../../std/certificate.ts";
import type { EnginePool } from "../pool/engine-pool.ts";
import { nodeProtocol } from "./node-protocol.ts";
import { OutgoingMessages } from "./outgoing-messages.ts";

const credential = "the credential of these tests";

const areKnown = (pool: EnginePool) => {
  try {
    pool.checkModelsKnown();
    return true;
  } catch {
    return false;
  }
};

const said = [speech(1200), silence(800), speech(700), silence(900), speech(400)];

let node: OpenEngineNode;
let client: EnginePool;
before(async () => {
  node = await openEngineNode(2);
  client = await openNodesPool([node.port]);
  await untilReady(client, 2);
});
after(async () => {
  await client[Symbol.asyncDispose]();
  await node[Symbol.asyncDispose]();
});

test("streams, short recordings and jobs are recognized on an engine node as on this one", async () => {
  for (const mode of ["live", "short", "job"] as const) {
    const running = Array.from({ length: 6 }, () => recognize(client, said, { mode }));
    for (const found of await Promise.all(running)) {
      assert.deepEqual(found, finalsWithoutPool(said, { mode }), mode);
    }
  }
  assert.deepEqual(client.languageCodes("live"), ["en-US", "is-IS"]);
  await until(() => node.shared.sessions === 0, "no session is left");
});

test("an engine node is kept that holds back five seconds of silence after an utterance", async () => {
  const before = client.state().nodes?.[0]?.losses;
  const options = { mode: "short", silenceMsMin: 5_000 } as const;
  const input = [speech(800), silence(5_400), speech(600), silence(5_400)];
  const finals = finalsWithoutPool(input, options);
  assert.equal(finals.length, 2);
  assert.deepEqual(await recognize(client, input, options), finals);
  assert.equal(client.state().nodes?.[0]?.losses, before);
});

test("an engine node is shared: each client's sessions count for the others", async () => {
  await using other = await openNodesPool([node.port]);
  await untilReady(other, 2);
  const streams = Array.from({ length: 4 }, () => openInput(speech(300)));
  const running = streams.map(({ input }) => recognize(client, input));
  const sessions = () => other.state().nodes?.[0]?.sessions;
  await until(
    () => sessions() === 4,
    () => `the other client sees ${sessions()}`,
  );
  assert.ok((other.state().nodes?.[0]?.load ?? 0) >= 0);
  for (const { end } of streams) end();
  await Promise.all(running);
  await until(() => sessions() === 0, "they have ended");
});

test("a node with another credential is refused, which is said", async () => {
  await using other = await openNodesPool([node.port], { credential: "quite another credential" });
  const problem = () => other.state().nodes?.[0]?.problem;
  await until(() => problem() !== undefined, "it is refused");
  assert.match(problem() ?? "", /it refused the credential: HLUST_ENGINE_CREDENTIAL must be/);
  assert.throws(() => other.languageCodes("live"), { code: "unavailable", reason: "NO_ENGINE" });
  await assert.rejects(recognize(other, said), { code: "unavailable", reason: "NO_ENGINE" });
});

test("audio is encrypted to a node whose certificate an authority of the setting has issued", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-engine-tls-"));
  await using parts = new AsyncDisposableStack();
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const authority = await openTestAuthority(join(folder, "ca"));
  const other = await openTestAuthority(join(folder, "other"));
  const files = await authority.issue("engine");
  const current = await readCertificate({
    certificate: { setting: "HLUST_TLS_CERTIFICATE", path: files.certificate },
    key: { setting: "HLUST_TLS_KEY", path: files.key },
  });
  const secure = parts.use(
    await openEngineNode(1, { certificate: { current, onReplaced: () => {} } }),
  );
  const authorities = readFileSync(authority.certificate, "utf8");
  const warnings: Error[] = [];
  process.on("warning", (warning) => warnings.push(warning));
  await using own = await openNodesPool([secure.port], { isEncrypted: true, authorities });
  await untilReady(own, 1);
  assert.deepEqual(await recognize(own, said), finalsWithoutPool(said));

  const refusals = [
    // The authorities of the setting are the only ones, although this process trusts both.
    {
      port: secure.port,
      options: { isEncrypted: true, authorities: readFileSync(other.certificate, "utf8") },
      problem:
        /no trusted authority has issued its certificate \(self-signed .*\): set HLUST_ENGINES_CA/,
    },
    {
      port: secure.port,
      options: {},
      problem: /closed the connection .*: write https:\/\/ in HLUST_ENG/,
    },
    {
      port: node.port,
      options: { isEncrypted: true, authorities },
      problem:
        /it has no certificate: write http:\/\/ in HLUST_ENGINES, or set HLUST_TLS_CERTIFICATE/,
    },
  ];
  for (const { port, options, problem } of refusals) {
    const lines: string[] = [];
    const kept = pino({ messageKey: "event" }, { write: (line: string) => void lines.push(line) });
    await using refused = await openNodesPool([port], { ...options, log: kept });
    const logged = () => lines.find((line) => line.includes("engine.node_unreachable"));
    await until(() => logged() !== undefined, "it is refused");
    assert.match(logged() ?? "", problem);
    const [state] = refused.state().nodes ?? [];
    assert.equal(state?.connected, false);
    assert.match(state?.problem ?? "", problem);
  }
  // Such as Node's about an address that is sent as the name of the server.
  assert.deepEqual(warnings, []);
});

test("the reader of messages may end them with an error of its own, wherever it is", async () => {
  const outgoing = new OutgoingMessages<string>(() => "frames");
  outgoing.push("first");
  outgoing.push("second");
  const reader = outgoing[Symbol.asyncIterator]();
  assert.equal((await reader.next()).value, "first");
  await assert.rejects(reader.throw(new Error("this node is closing")), /this node is closing/);
  assert.equal((await reader.next()).done, true);
});

test("a client of another protocol is refused with both versions", async () => {
  const baseUrl = `http://127.0.0.1:${node.port}`;
  const serve = async (...messages: MessageInitShape<typeof ServeRequestSchema>[]) => {
    const sessionManager = new Http2SessionManager(baseUrl);
    async function* requests() {
      for (const message of messages) yield create(ServeRequestSchema, message);
      await new Promise(() => {});
    }
    const headers = { authorization: `Bearer ${credential}` };
    const transport = createGrpcTransport({ baseUrl, sessionManager });
    try {
      await Array.fromAsync(createClient(Engines, transport).serve(requests(), { headers }));
    } finally {
      sessionManager.abort();
    }
  };
  const other = {
    message: { case: "hello" as const, value: { protocol: 99, version: "9.9" } },
  };
  await assert.rejects(serve(other), {
    code: Code.FailedPrecondition,
    rawMessage: /protocol 1, the client has version 9.9 with protocol 99: use versions/,
  });
  const hello = {
    message: { case: "hello" as const, value: { protocol: nodeProtocol, version: "1" } },
  };
  const beat = { message: { case: "beat" as const, value: { number: 1, uses: [] } } };
  await assert.rejects(serve(beat), { rawMessage: /must say hello first/ });
  await assert.rejects(serve(hello, hello), {
    rawMessage: /only frames and beats after its hello/,
  });
  const frames = (bytes: Uint8Array<ArrayBuffer>, process = 1) => ({
    message: { case: "frames" as const, value: { process, frames: bytes } },
  });
  const use = { process: 1, liveDemand: -1 };
  const badUse = { message: { case: "beat" as const, value: { number: 1, uses: [use] } } };
  await assert.rejects(serve(hello, badUse), {
    rawMessage: /each number of the use of a process must be 0 to 1000000000/,
  });
  const garbage = frames(new Uint8Array(100).fill(0xee));
  await assert.rejects(serve(hello, garbage), { rawMessage: /bytes that are not a frame/ });
  const nowhere = frames(new Uint8Array(1), 99);
  await assert.rejects(serve(hello, nowhere), { rawMessage: /there is no process 99/ });
  assert.deepEqual(await recognize(client, said), finalsWithoutPool(said));
});

test("connections that are not of a client are closed, and clients notice nothing", async () => {
  const running = recognize(client, said);
  const bytes = ["GET / HTTP/1.1\r\nhost: a\r\n\r\n", "\x16\x03\x01garbage".repeat(100), ""];
  await using quick = await openEngineNode(1, { helloMsMax: 200 });
  for (const port of [node.port, quick.port]) {
    for (const text of bytes) {
      if (text === "" && port === node.port) continue;
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write(text);
      socket.resume();
      await once(socket, "close");
    }
  }
  assert.deepEqual(await running, finalsWithoutPool(said));
});

test("a connection may carry as much as its stream, in both directions", async () => {
  const isLarge = ({ state }: Http2Session) => (state.remoteWindowSize ?? 0) >= 1 << 20;
  const own = connectHttp2(`http://127.0.0.1:${node.port}`);
  await until(() => isLarge(own), "what the node may be sent");
  own.destroy();
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const joined = once(server, "session");
  await using _other = await openNodesPool([address.port]);
  const [session] = await joined;
  await until(() => isLarge(session), "what the node may send");
  session.destroy();
  server.close();
});

test("a node that is stopped hands its streams over between two utterances", async () => {
  await using first = await openEngineNode(1);
  await using own = await openNodesPool([first.port, node.port]);
  await untilReady(own, 3);
  const [gate, moved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const finals: number[] = [];
  async function* input() {
    yield* [speech(600), silence(900)];
    await gate.promise;
    yield* [speech(500), silence(900)];
    await moved.promise;
    yield speech(300);
  }
  const streams = Array.from({ length: 6 }, async () => {
    const found = [];
    for await (const each of own.recognize(input(), scriptedOptions)) {
      found.push(each);
      finals.push(each.audioEndMs);
    }
    return found;
  });
  await until(() => finals.length === 6, "each stream has a final");
  assert.ok(first.shared.sessions > 0, "the node that will be stopped has streams");
  first.shared.leave();
  gate.resolve();
  // The streams are still open, and the next final result moves them.
  await until(() => first.shared.sessions === 0, "no stream is left");
  moved.resolve();
  const expected = finalsWithoutPool([
    speech(600),
    silence(900),
    speech(500),
    silence(900),
    speech(300),
  ]);
  for (const found of await Promise.all(streams)) assert.deepEqual(found, expected);
  assert.equal(own.state().nodes?.[0]?.leaving, true);
});

test("a name with several addresses is several nodes, and one node under two names is one", async () => {
  await using two = await openEngineNode(1);
  const found = { addresses: ["127.0.0.1"] };
  const names = [
    { host: "engines.test", port: two.port, isEncrypted: false },
    { host: "127.0.0.1", port: two.port, isEncrypted: false },
  ];
  await using pool = await openNodesPool(names, {
    lookupMs: 50,
    lookup: (host) => Promise.resolve(host === "engines.test" ? found.addresses : [host]),
  });
  const connected = () => pool.state().nodes?.filter((each) => each.connected) ?? [];
  await until(() => pool.state().nodes?.length === 2 && connected().length === 1, "one is used");
  // The models of a node that is connected under another address are known.
  await until(() => areKnown(pool), "the models of both names are known");
  found.addresses = ["127.0.0.1", "127.0.0.2"];
  await until(() => pool.state().nodes?.length === 3, "another address is found");
  assert.equal(pool.state().models[0]?.processes, 1);
  const reached = pool.state().nodes?.map(({ address }) => address);
  assert.ok(reached?.includes(`engines.test:${two.port} (127.0.0.2)`), reached?.join());
  found.addresses = ["127.0.0.1"];
  await until(() => pool.state().nodes?.length === 2, "an address that is gone is forgotten");
});
