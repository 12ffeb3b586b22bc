// Tests the limits of the engine port, over real connections.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
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
/** The calls that an engine node takes on a connection. */
const callsMax = 4;
const exhausted: number = Code.ResourceExhausted;
/** None of the clients is given up while the others are opened. */
const testMsMax = 300_000;

/** Opens a connection with calls that have not said hello, once the node has all of them. */
async function openCalls(
  port: number,
  count: number,
): Promise<{ readonly session: ClientHttp2Session; readonly calls: readonly ClientHttp2Stream[] }> {
  const session = connect(`http://127.0.0.1:${port}`);
  await once(session, "remoteSettings");
  const calls = Array.from({ length: count }, () => session.request(headers));
  for (const call of calls) call.on("error", () => {});
  await new Promise<void>((resolve) => session.ping(() => resolve()));
  return { session, calls };
}

test(`an engine node has at most ${clientsMax} clients, also if more say hello at once`, async () => {
  const more = 4;
  await using node = await openEngineNode(1, { helloMsMax: testMsMax, silentMsMax: testMsMax });
  const opened: Awaited<ReturnType<typeof openCalls>>[] = [];
  while (opened.length * callsMax < clientsMax + more) {
    opened.push(await openCalls(node.port, callsMax));
  }
  let refused = 0;
  const value = { protocol: nodeProtocol, version: "1" };
  const hello = create(ServeRequestSchema, { message: { case: "hello", value } });
  for (const call of opened.flatMap(({ calls }) => calls)) {
    const take = (status: unknown) => {
      if (Number(status) === exhausted) refused += 1;
    };
    call.on("response", (status) => take(status["grpc-status"]));
    call.on("trailers", (status) => take(status["grpc-status"]));
    call.resume();
    for (const part of grpcMessage(ServeRequestSchema, hello)) call.write(part);
  }
  await until(
    () => node.shared.clients + refused === clientsMax + more,
    () => `${node.shared.clients} clients, and ${refused} refused`,
  );
  assert.deepEqual([node.shared.clients, refused], [clientsMax, more]);
  for (const { session } of opened) session.destroy();
  await until(() => node.shared.clients === 0, "all have left");
});
