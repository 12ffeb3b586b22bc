import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { unwatched } from "../../test/fixtures/test-caller.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { openServer, type Server } from "./server.ts";

let server: Server;

async function openHealth(isStarting: () => boolean): Promise<Server> {
  const works = () => Promise.resolve();
  const fails = () => Promise.reject(new ServiceError("unavailable", "the bucket is unavailable"));
  const authenticate = () => Promise.reject(new Error("not called"));
  return await openServer(
    { host: "127.0.0.1", port: 0 },
    {
      api: { services: [], authenticator: { authenticate, ...unwatched } },
      health: {
        isStarting,
        checks: [
          { name: "database", uses: ["speech", "jobs"], check: works },
          { name: "media", uses: ["jobs"], check: fails },
        ],
      },
      log: createLog("silent"),
    },
  );
}

before(async () => {
  server = await openHealth(() => false);
});
after(() => server[Symbol.asyncDispose]());

/** Sends these bytes as a request, and returns the status of the response. */
async function statusOf(head: string): Promise<number> {
  const socket = connect(Number(new URL(server.address).port), "127.0.0.1");
  socket.write(`${head}\r\n\r\n`);
  const [answer] = await once(socket.setEncoding("utf8"), "data");
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+) /.exec(String(answer))?.[1]);
}

test("only health checks are answered over HTTP/1.0 and without a Host header, as load balancers request them", async () => {
  const rows: [head: string, status: number][] = [
    // HAProxy sends such a request for: option httpchk GET /readyz
    ["GET /healthz HTTP/1.0", 200],
    ["GET /readyz HTTP/1.0", 503],
    ["HEAD /readyz?for=speech HTTP/1.0", 200],
    ["GET /healthz HTTP/1.1", 200],
    ["GET /readyz?for=speech HTTP/1.1", 200],
    ["GET /healthz HTTP/1.0\r\nHost: a", 200],
    // gRPC calls use POST, so a GET probe with the content type of gRPC also requests health.
    ["GET /healthz HTTP/1.0\r\nContent-Type: application/grpc", 200],
    ["GET /readyz HTTP/1.0\r\nContent-Type: application/grpc", 503],
    ["GET /readyz HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc", 503],
    ["GET /v1alpha1/transcripts HTTP/1.1", 400],
    ["GET /v1alpha1/transcripts HTTP/1.0", 400],
    ["GET /v1alpha1/transcripts HTTP/1.0\r\nHost: a", 404],
    ["POST /readyz HTTP/1.1", 400],
  ];
  for (const [head, status] of rows) assert.equal(await statusOf(head), status, head);
});

test("/readyz?for= accepts one or several uses, and an error lists the valid uses", async () => {
  const ask = async (query: string) => {
    const answer = await fetch(`${server.address}/readyz${query}`);
    return { status: answer.status, body: await answer.text() };
  };
  const database = '"database":{"ready":true}';
  const media = '"media":{"ready":false,"reason":"the bucket is unavailable"}';
  assert.deepEqual(await ask("?for=speech"), {
    status: 200,
    body: `{"status":"ready","parts":{${database}}}`,
  });
  for (const query of ["", "?for=jobs", "?for=speech,jobs", "?other=1"]) {
    assert.deepEqual(
      await ask(query),
      { status: 503, body: `{"status":"not ready","parts":{${database},${media}}}` },
      query,
    );
  }
  for (const query of ["?for=", "?for=live", "?for=speech,live"]) {
    const { status, body } = await ask(query);
    assert.equal(status, 400, query);
    assert.match(body, /must be one of speech, jobs, not /, query);
  }
});

test("/startupz and /readyz report a node that is starting until it has started once", async () => {
  let isStarting = true;
  await using starting = await openHealth(() => isStarting);
  const ask = async (path: string) => {
    const answer = await fetch(`${starting.address}${path}`);
    return [answer.status, /"status":"([^"]*)"/.exec(await answer.text())?.[1]];
  };
  assert.deepEqual(await ask("/startupz"), [503, "starting"]);
  assert.deepEqual(await ask("/readyz"), [503, "starting"]);
  assert.deepEqual(await ask("/healthz"), [200, "ok"], "it is alive");
  isStarting = false;
  assert.deepEqual(await ask("/startupz"), [200, "started"]);
  isStarting = true;
  assert.deepEqual(await ask("/startupz"), [200, "started"], "a model that is loaded later");
  assert.deepEqual(await ask("/readyz"), [503, "not ready"]);
});
