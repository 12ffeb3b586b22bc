// Tests the limits of the engine port, over real connections.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { until } from "../../../test/fixtures/engine-pool-fixture.ts";
import { openEngineNode } from "../../../test/fixtures/open-engine-node.ts";
import { Engines, ServeRequestSchema } from "../../gen/hlust/engine/v1/engine_pb.ts";
import { grpcMessage } from "./grpc-messages.ts";
import { authorizationOf, nodeProtocol } from "./node-protocol.ts";
import { clientsMax } from "./serve-engines.ts";

const headers = {
  ":method": "POST",
  ":path": `/${Engines.typeName}/${Engines.method.serve.name}`,
  "content-type": "application/grpc+proto",
  te: "trailers",
  authorization: authorizationOf("the credential of these tests"),
};
const value = { protocol: nodeProtocol, version: "1" };
const hello = grpcMessage(
  ServeRequestSchema,
  create(ServeRequestSchema, { message: { case: "hello", value } }),
);
/** The calls that an engine node takes on a connection. */
const callsMax = 4;
/** None of the clients is given up while the others are opened. */
const testMsMax = 300_000;

interface Refusal {
  readonly status: number;
  readonly message: string;
}

interface OpenCall {
  readonly sayHello: () => void;
  /** Why the node has ended the call, once it has. */
  readonly refusals: readonly Refusal[];
}

function openCall(session: ClientHttp2Session): OpenCall {
  const refusals: Refusal[] = [];
  const take = (given: IncomingHttpHeaders) => {
    const { "grpc-status": status, "grpc-message": message = "" } = given;
    if (status === undefined) return;
    refusals.push({ status: Number(status), message: decodeURIComponent(String(message)) });
  };
  const call = session.request(headers);
  call
    .on("response", take)
    .on("trailers", take)
    .on("error", () => {});
  call.resume();
  const sayHello = () => {
    for (const part of hello) call.write(part);
  };
  return { sayHello, refusals };
}

/** Opens a connection with calls that have not said hello, once the node has all of them. */
async function openCalls(port: number, count: number) {
  const session = connect(`http://127.0.0.1:${port}`);
  await once(session, "remoteSettings");
  const calls = Array.from({ length: count }, () => openCall(session));
  await new Promise<void>((resolve) => session.ping(() => resolve()));
  return { session, calls };
}

test("a client learns why it is given up or refused", async () => {
  await using node = await openEngineNode(1, { silentMsMax: 300 });
  const opened = await openCalls(node.port, 1);
  const silence: number = Code.DeadlineExceeded;
  for (const { sayHello, refusals } of opened.calls) {
    sayHello();
    await until(() => refusals.length > 0, "it is given up");
    assert.deepEqual(refusals, [{ status: silence, message: "the client is silent" }]);
  }
  node.shared.leave();
  const stopped = await openCalls(node.port, 1);
  const unavailable: number = Code.Unavailable;
  for (const { refusals } of stopped.calls) {
    await until(() => refusals.length > 0, "it is refused");
    assert.deepEqual(refusals, [{ status: unavailable, message: "this node is being stopped" }]);
  }
  for (const { session } of [opened, stopped]) session.destroy();
});

test(`an engine node has at most ${clientsMax} clients, also if more say hello at once`, async () => {
  const more = 4;
  await using node = await openEngineNode(1, { helloMsMax: testMsMax, silentMsMax: testMsMax });
  const opened: Awaited<ReturnType<typeof openCalls>>[] = [];
  while (opened.length * callsMax < clientsMax + more) {
    opened.push(await openCalls(node.port, callsMax));
  }
  const calls = opened.flatMap((each) => each.calls);
  for (const { sayHello } of calls) sayHello();
  const refused = () => calls.flatMap(({ refusals }) => refusals);
  await until(
    () => node.shared.clients + refused().length === clientsMax + more,
    () => `${node.shared.clients} clients, and ${refused().length} refused`,
  );
  assert.equal(node.shared.clients, clientsMax);
  const full: number = Code.ResourceExhausted;
  const expected = { status: full, message: `at most ${clientsMax} clients are served` };
  assert.deepEqual(
    refused(),
    Array.from({ length: more }, () => expected),
  );
  for (const { session } of opened) session.destroy();
  await until(() => node.shared.clients === 0, "all have left");
});
