import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { openTestAuthority } from "../../../test/fixtures/test-authority.ts";
import { until } from "../../../test/fixtures/until.ts";
import { createLog } from "../../std/log.ts";
import type { HttpListener } from "../http.ts";
import { openPort, type PortLimits } from "../port.ts";
import { refuseMalformed } from "../refuse.ts";
import { ServedCertificate } from "./served-certificate.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-accept-tls-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
const { certificate, key } = await (await openTestAuthority(folder)).issue("port");

/** Responds with the protocol version of the request. */
const echo: HttpListener = (request, response) => {
  response.end(`HTTP/${request.httpVersion}`);
};

async function openTlsPort(limits: Partial<PortLimits> = {}, handle = echo) {
  const served = await ServedCertificate.open(
    {
      certificate: { setting: "CERTIFICATE", path: certificate },
      key: { setting: "KEY", path: key },
    },
    { log: createLog("silent") },
  );
  const port = await openPort(
    { host: "127.0.0.1", port: 0, certificate: served },
    { handle, upgrade: () => {}, refuse: refuseMalformed },
    limits,
  );
  return {
    port,
    number: Number(new URL(port.address).port),
    async [Symbol.asyncDispose]() {
      port.close();
      await served[Symbol.asyncDispose]();
    },
  };
}

async function closed(socket: Socket): Promise<void> {
  socket.on("error", () => {});
  socket.resume();
  await new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
  });
}

test("a connection that does not finish its handshake is closed", async () => {
  await using open = await openTlsPort({ headersMsMax: 200 });
  const silent = connect(open.number, "127.0.0.1");
  // The start of a record, whose rest does not come.
  const slow = connect(open.number, "127.0.0.1");
  slow.write(Buffer.from([22, 3, 1, 2, 0, 1]));
  await Promise.all([closed(silent), closed(slow)]);
  assert.equal(await (await fetch(open.port.address)).text(), "HTTP/1.1");
});

test("a connection beyond the limit is closed without an answer in cleartext", async () => {
  const connections = { max: 100, perAddressMax: 1, isExempt: () => false };
  await using open = await openTlsPort({ connections });
  const first = connectTls({ port: open.number, host: "127.0.0.1" });
  await once(first, "secureConnect");
  const second = connect(open.number, "127.0.0.1");
  const received: Buffer[] = [];
  second.on("data", (bytes) => received.push(bytes));
  await closed(second);
  assert.deepEqual(received, []);
  first.destroy();
});

test("the end of a port closes connections in every state", async () => {
  // A connection without a request must not wait for this.
  const { port, number, ...open } = await openTlsPort({ headersMsMax: 600_000 });
  const sockets = [connect(number, "127.0.0.1"), connect(number, "127.0.0.1")];
  sockets[1]?.write(Buffer.from([22, 3, 1, 2, 0, 1]));
  const idle = connectTls({ port: number, host: "127.0.0.1", ALPNProtocols: ["http/1.1"] });
  await once(idle, "secureConnect");
  const session = connectHttp2(port.address);
  await once(session, "remoteSettings");
  const ended = [...sockets, idle].map((socket) => closed(socket));
  await Promise.all([port.drain(), ...ended, once(session, "close")]);
  await open[Symbol.asyncDispose]();
});

test("retire() over TLS lets HTTP/2 calls in flight end, and later ones are refused as not begun", async () => {
  const started = Promise.withResolvers<() => void>();
  await using open = await openTlsPort({}, (_request, response) => {
    started.resolve(() => response.end("done"));
  });
  const session = connectHttp2(open.port.address);
  const stream = session.request({ ":path": "/" });
  const finish = await started.promise;
  const goaway = once(session, "goaway");
  const retired = open.port.retire();
  const [code, lastStream] = await goaway;
  assert.deepEqual([code, lastStream], [0, 1], "call 1 is the last that is answered");
  finish();
  assert.deepEqual(await Array.fromAsync(stream.setEncoding("utf8")), ["done"]);
  await retired;
  await until(async () => session.destroyed);
});
