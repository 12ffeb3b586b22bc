import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http2";
import { connect } from "node:net";
import { test } from "node:test";
import { GrpcCall } from "./grpc-call.ts";

test("a call that ends before its connection is known to be open ends with its reason", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  try {
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    const socket = connect(address.port, "127.0.0.1");
    await once(socket, "connect");
    const call = new GrpcCall({
      origin: `http://127.0.0.1:${address.port}`,
      path: "/any",
      authorization: "none",
      connection: { createConnection: () => socket },
      onMessage: () => {},
    });
    call[Symbol.dispose]();
    await assert.rejects(call.ended, /the connection was closed here/);
    // The session reports that it is connected only now.
    await once(socket, "close");
  } finally {
    server.close();
  }
});
