import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { pino } from "pino";
import { frame, request } from "../../test/access/http2-frames.ts";
import { Streams } from "../../test/gen/streams_pb.ts";
import { unwatched } from "../../test/fixtures/test-caller.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { implemented } from "./methods.ts";
import { openServer } from "./server.ts";

const local = { host: "127.0.0.1", port: 0 };
const uncalled = {
  services: [],
  authenticator: { authenticate: () => Promise.reject(new Error("not called")), ...unwatched },
};

test("openServer() aborts a call whose error cannot be written, and answers the next call", async () => {
  // No header can contain this character.
  const broken = new ServiceError("unimplemented", "x", { metadata: { allow: "\u7b2c" } });
  const refuse = () => Promise.reject(broken);
  async function* none() {}
  const streams = implemented(Streams, {
    count: none,
    names: none,
    export: none,
    talk: none,
    download: refuse,
    upload: refuse,
    echo: refuse,
    wait: refuse,
  });
  await using server = await openServer(local, {
    api: { services: [streams], authenticator: { authenticate: refuse, ...unwatched } },
    log: createLog("silent"),
  });
  await assert.rejects(fetch(`${server.address}/v1/wait`), TypeError);
  assert.equal((await fetch(`${server.address}/healthz`)).status, 200);
});

test("openServer() survives clients that cancel a call in the packet that opens it", async () => {
  await using server = await openServer(local, {
    api: uncalled,
    log: createLog("silent"),
  });
  const begun = [Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame("SETTINGS", 0)];
  for (const path of ["/", "/v1/media", "/grpc.health.v1.Health/Check"]) {
    const call = { ":method": "POST", ":path": path, expect: "100-continue" };
    const cancelled = frame("RST_STREAM", 1, Buffer.from([0, 0, 0, 8]));
    const noWindow = frame("WINDOW_UPDATE", 1, Buffer.alloc(4));
    const broken = frame("PING", 1);
    for (const after of [cancelled, noWindow, broken]) {
      const socket = connect(Number(new URL(server.address).port), "127.0.0.1");
      socket.resume().end(Buffer.concat([...begun, request(1, call), after]));
      await once(socket, "close");
    }
  }
  assert.equal((await fetch(`${server.address}/healthz`)).status, 200);
});

test("openServer() logs no bug for a client that disconnects before its message is complete", async () => {
  const lines: string[] = [];
  await using server = await openServer(local, {
    api: uncalled,
    log: pino({ level: "error" }, { write: (line: string) => lines.push(line) }),
  });
  const socket = connect(Number(new URL(server.address).port), "127.0.0.1");
  const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  const path = "/grpc.health.v1.Health/Watch";
  const call = { ":method": "POST", ":path": path, "content-type": "application/grpc" };
  const ping = frame("PING", 0, Buffer.alloc(8));
  socket.write(Buffer.concat([preface, frame("SETTINGS", 0), request(1, call), ping]));
  // When the server answers the ping that follows the call, it has already received the call.
  let answered = Buffer.alloc(0);
  while (!answered.includes(Buffer.from([0, 0, 8, 6, 1]))) {
    const [bytes] = await once(socket, "data");
    answered = Buffer.concat([answered, bytes]);
  }
  socket.destroy();
  // A bug would be logged before these later requests are answered.
  for (let n = 0; n < 3; n += 1) await (await fetch(`${server.address}/healthz`)).text();
  assert.deepEqual(lines, []);
});
