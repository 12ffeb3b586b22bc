// The access that the console's cookie allows: calls and streams below /console/api/, over both
// versions of HTTP, and nothing else.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { newId } from "../../src/std/ids.ts";
import { addSignedIn, consoleHeaders } from "../fixtures/signed-in.ts";
import { submit } from "../spec/jobs.ts";
import { callRest, type Answer } from "../spec/service.ts";
import { openTestConsole, type TestConsole } from "./open-console.ts";

let console: TestConsole;
before(async () => {
  console = await openTestConsole({ HLUST_REFUSED_PER_MINUTE: "10" });
});
after(() => console[Symbol.asyncDispose]());

test("the cookie works only for the console's paths", async () => {
  const { service, db, accountId } = console;
  const { secret, headers } = await addSignedIn(db, accountId, "OWNER");
  const post = { method: "POST", body: {}, headers };
  const rows: [string, Promise<{ status: number }>][] = [
    ["REST", callRest(service.address, undefined, { method: "GET", path: "/v1/account", headers })],
    [
      "its secret as a token",
      callRest(service.address, secret, { method: "GET", path: "/v1/account" }),
    ],
    [
      "its secret in the URL",
      callRest(service.address, undefined, {
        ...post,
        path: `/v2beta1/speech:recognize?token=${secret}`,
      }),
    ],
    [
      "Connect",
      callRest(service.address, undefined, {
        ...post,
        path: "/hlust.accounts.v1.Accounts/GetAccount",
      }),
    ],
    [
      "Connect below the console",
      callRest(service.address, undefined, {
        ...post,
        path: "/console/api/hlust.accounts.v1.Accounts/GetAccount",
      }),
    ],
  ];
  const statuses = await Promise.all(
    rows.map(async ([row, answer]) => [row, (await answer).status]),
  );
  assert.deepEqual(statuses, [
    ["REST", 401],
    ["its secret as a token", 401],
    ["its secret in the URL", 401],
    ["Connect", 401],
    ["Connect below the console", 404],
  ]);
  const streams = "/v2beta1/speech:streamingrecognize";
  for (const [path, status] of [
    [streams, 401],
    [`/console/api${streams}`, 404],
  ] as const) {
    const socket = new WebSocket(`${service.address.replace("http", "ws")}${path}`, { headers });
    const [, response]: IncomingMessage[] = await once(socket, "unexpected-response");
    assert.equal(response?.statusCode, status, path);
    socket.on("error", () => {}).terminate();
  }
});

test("a page whose user has signed out changes and reads nothing", async () => {
  const { service, db, accountId } = console;
  const { secret, memberId } = await addSignedIn(db, accountId, "OWNER");
  const own = `accounts/${accountId} members/${memberId}`;
  const changed = [409, "SESSION_CHANGED"];
  const rows: [row: string, of: string | undefined, get: unknown[], change: unknown[]][] = [
    ["another account", `accounts/${newId()} members/${memberId}`, changed, changed],
    ["another member", `accounts/${accountId} members/${newId()}`, changed, changed],
    ["a key of the same id", `accounts/${accountId} apiKeys/${memberId}`, changed, changed],
    ["the account alone", `accounts/${accountId}`, changed, changed],
    ["the same twice", `${own}, ${own}`, changed, changed],
    ["an empty name", "", changed, changed],
    ["a page that names no user", undefined, [200], [403, "CONSOLE_HEADER_MISSING"]],
    ["a page of the signed-in user", own, [200], [200]],
  ];
  for (const [row, of, get, change] of rows) {
    const headers = {
      ...consoleHeaders(secret),
      ...(of !== undefined && { "x-hlust-console-for": of }),
    };
    const call = async (method: string, path: string, body?: object): Promise<unknown[]> => {
      const answer = await callRest(service.address, undefined, { method, path, body, headers });
      if (answer.status === 200) return [200];
      assert.ok(!JSON.stringify(answer.json).includes(accountId), "nor the signed-in account");
      return [answer.status, answer.json.details[0].reason];
    };
    const path = "/console/api/v1/account";
    assert.deepEqual(await call("GET", path), get, row);
    assert.deepEqual(await call("PATCH", path, { displayName: row }), change, row);
    const { display_name } = await db
      .selectFrom("account")
      .select("display_name")
      .where("id", "=", accountId)
      .executeTakeFirstOrThrow();
    assert.equal(display_name === row, change[0] === 200, row);
    if (of === own) continue;
    const there = { account: `accounts/${accountId}` };
    assert.deepEqual(await call("POST", "/console/session:switch", there), change, row);
  }
});

test("a page makes calls over HTTP/2, and its secret is also replaced there", async () => {
  const { service, db, accountId } = console;
  const { secret } = await addSignedIn(db, accountId, "OWNER");
  await db
    .updateTable("session")
    .set({ rotated_at: new Date(Date.now() - 3_600_000) })
    .execute();
  const { "sec-fetch-site": _, ...headers } = consoleHeaders(secret);
  const { origin } = new URL(service.address);
  const session = connect(service.address);
  try {
    const statuses: unknown[] = [];
    const cookies: unknown[] = [];
    for (const from of [origin, "http://evil.example"]) {
      const call = session.request({ ":path": "/console/session", ...headers, origin: from });
      const [answer] = await once(call, "response");
      statuses.push(answer[":status"]);
      cookies.push(...(answer["set-cookie"] ?? []));
      call.resume();
      await once(call, "close");
    }
    assert.deepEqual(statuses, [200, 403]);
    assert.match(String(cookies[0]), /^__Host-hlust=session_/);
  } finally {
    session.close();
  }
});

test("a stream ends with its session", async () => {
  const { service, ask, db, accountId } = console;
  const { secret, sessionId } = await addSignedIn(db, accountId, "VIEWER");
  const { json } = await submit(service, "http://127.0.0.1:9/never.wav");
  const url = `${service.address}/console/api/v1alpha1/${json.name}:watch`;
  const answer = await fetch(url, { headers: consoleHeaders(secret) });
  assert.equal(answer.status, 200);
  const lines = answer.text();
  await ask({ method: "DELETE", path: `/console/api/v1/sessions/${sessionId}`, secret });
  assert.match(await lines, /"error":\{"code":16/);
});

test("refused sign-ins are limited, by key and by link; signed-in users are not", async () => {
  const { ask, signIn } = console;
  const secret = await signIn();
  for (const name of ["apiKey", "signInToken"]) {
    let last: Answer | undefined;
    for (let count = 0; count < 100 && last?.status !== 429; count += 1) {
      const body = { [name]: `wrong${count}` };
      last = await ask({ method: "POST", path: "/console/session", body });
    }
    assert.equal(last?.json.details[0].reason, "TOO_MANY_REFUSED", name);
    assert.ok(Number(last?.headers.get("retry-after")) > 0);
  }
  assert.equal((await ask({ path: "/console/api/v1/account", secret })).status, 200);
});
