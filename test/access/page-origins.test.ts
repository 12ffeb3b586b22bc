// Pages of other origins (threat 50), request IDs and addresses of callers (threats 63 and 102),
// and internal errors (threat 104).
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import { pino } from "pino";
import { WebSocket } from "ws";
import { openBrowser } from "../fixtures/open-browser.ts";
import { parseNetworks } from "../../src/std/networks.ts";
import { anyOrigin } from "../../src/server/page-origins.ts";
import { openTestStreams, token, type TestStreams } from "../fixtures/open-test-streams.ts";

const friend = "https://app.example";
const authorization = `Bearer ${token}`;
const opened = new AsyncDisposableStack();
const lines: string[] = [];
/** Services that allow pages of no other origin, of one other origin, and of all origins. */
let [closed, some, all]: TestStreams[] = [];

before(async () => {
  const log = pino(
    { messageKey: "event" },
    new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    }),
  );
  const publicUrl = () => "https://hlust.example";
  closed = opened.use(await openTestStreams(token, { publicUrl, log }));
  some = opened.use(await openTestStreams(token, { allowedOrigins: [friend] }));
  all = opened.use(await openTestStreams(token, { allowedOrigins: [anyOrigin] }));
});
after(() => opened.disposeAsync());

function addressOf(service: TestStreams | undefined): string {
  assert.ok(service);
  return service.address;
}

/** Returns "open", or the reason and close code with which a page's WebSocket is refused. */
async function upgrade(
  service: TestStreams | undefined,
  headers: Record<string, string>,
): Promise<string> {
  const url = `${addressOf(service).replace("http", "ws")}/v1/talk?token=${token}`;
  const socket = new WebSocket(url, { headers });
  socket.on("upgrade", (answer) => assert.ok(answer.headers["x-request-id"]));
  socket.once("open", () => {
    socket.send('{"from": 7}');
  });
  const [data] = await once(socket, "message");
  const text = String(data);
  if (text.includes('"result"')) {
    socket.terminate();
    return "open";
  }
  const [code] = await once(socket, "close");
  return `${/"reason":"([A-Z_]+)"/.exec(text)?.[1]} ${code}`;
}

test("sockets from pages of other origins are refused before any other check, whatever their cookie", async () => {
  const own = addressOf(closed);
  const refused = "ORIGIN_REFUSED 1008";
  const rows: [
    service: TestStreams | undefined,
    headers: Record<string, string>,
    answer: string,
  ][] = [
    [closed, {}, "open"],
    [closed, { origin: own }, "open"],
    [closed, { origin: "https://hlust.example" }, "open"],
    [closed, { origin: "https://a.example:8443", host: "a.example:8443" }, "open"],
    [closed, { origin: "https://a.example", host: "a.example:443" }, "open"],
    [closed, { origin: "https://evil.example", cookie: "__Host-hlust=1" }, refused],
    [closed, { origin: "null" }, refused],
    [closed, { origin: "" }, refused],
    [closed, { origin: "https://hlust.example.evil.example" }, refused],
    [closed, { origin: "https://sub.hlust.example" }, refused],
    [closed, { origin: "https://hlust.example:444" }, refused],
    [closed, { origin: "http://hlust.example" }, refused],
    [closed, { origin: "file://", host: "" }, refused],
    [some, { origin: friend }, "open"],
    [some, { origin: "https://evil.example" }, refused],
    [some, { origin: `${friend}.evil.example` }, refused],
    [all, { origin: "https://evil.example" }, "open"],
    [all, { origin: "null" }, "open"],
  ];
  for (const [service, headers, answer] of rows) {
    assert.equal(await upgrade(service, headers), answer, JSON.stringify(headers));
  }
});

const preflight = {
  method: "OPTIONS",
  headers: {
    "access-control-request-method": "GET",
    "access-control-request-headers": "authorization",
  },
};

/** Returns the CORS headers of a response. */
function corsOf({ status, headers }: Response) {
  const names = [...headers.keys()].filter((name) => name.startsWith("access-control-"));
  return [status, headers.get("access-control-allow-origin"), names.length, headers.get("vary")];
}

test("pages of allowed origins can read responses, but never with credentials", async () => {
  const ask = async (
    service: TestStreams | undefined,
    origin: string | undefined,
    init: RequestInit = {},
  ) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", authorization);
    if (origin !== undefined) headers.set("origin", origin);
    const answer = await fetch(`${addressOf(service)}/v1/wait`, { ...init, headers });
    assert.equal(answer.headers.has("access-control-allow-credentials"), false);
    return corsOf(answer);
  };
  assert.deepEqual(await ask(closed, friend), [200, null, 0, null]);
  assert.deepEqual(await ask(closed, friend, preflight), [405, null, 0, null]);
  assert.deepEqual(await ask(some, friend), [200, friend, 2, "Origin"]);
  assert.deepEqual(await ask(some, "https://evil.example"), [200, null, 0, "Origin"]);
  assert.deepEqual(await ask(some, "https://evil.example", preflight), [405, null, 0, "Origin"]);
  assert.deepEqual(await ask(some, undefined), [200, null, 0, "Origin"]);
  assert.deepEqual(await ask(some, friend, preflight), [204, friend, 5, "Origin"]);
  assert.deepEqual(await ask(some, friend, { method: "OPTIONS" }), [405, friend, 2, "Origin"]);
  assert.deepEqual(await ask(all, "null"), [200, "*", 2, null]);
  assert.deepEqual(await ask(all, undefined), [200, "*", 2, null]);
  const refused = await fetch(`${addressOf(some)}/v1/wait`, { headers: { origin: friend } });
  assert.deepEqual(corsOf(refused), [401, friend, 2, "Origin"], "a page can read why");
});

test("a page of an allowed origin calls the service, and can read why its socket is refused", async () => {
  await using parts = new AsyncDisposableStack();
  const pages = createServer((_, response) => {
    response.setHeader("content-type", "text/html").end("<!doctype html>");
  });
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  parts.defer(() => {
    pages.closeAllConnections();
    pages.close();
  });
  const bound: AddressInfo | string | null = pages.address();
  assert.ok(bound !== null && typeof bound === "object");
  const origin = `http://127.0.0.1:${bound.port}`;
  const allowed = parts.use(await openTestStreams(token, { allowedOrigins: [origin] }));
  const browser = await openBrowser();
  parts.defer(() => browser.close());
  const page = await browser.newPage();
  await page.goto(origin);
  const call = async (address: string) =>
    await page.evaluate(
      async ([url = "", key = ""]) => {
        const talk = (shown: string) =>
          new Promise((resolve) => {
            const socket = new WebSocket(`${url.replace("http", "ws")}/v1/talk?token=${shown}`);
            let said = "nothing";
            socket.addEventListener("open", () => {
              socket.send('{"from": 7}');
            });
            socket.addEventListener("message", ({ data }) => {
              said = typeof data === "string" ? data : "";
              if (said.includes('"result"')) resolve("open");
            });
            socket.addEventListener("close", ({ code }) => {
              resolve(`${/"reason":"([A-Z_]+)"/.exec(said)?.[1]} ${code}`);
            });
          });
        const init = { headers: { authorization: `Bearer ${key}`, "x-request-id": "page-1" } };
        const answer = await fetch(`${url}/v1/wait`, init).then(
          ({ status, headers }) => [status, headers.get("x-request-id")],
          () => ["hidden"],
        );
        return [...answer, await talk(key), await talk("wrong")];
      },
      [address, token],
    );
  assert.deepEqual(await call(allowed.address), [200, "page-1", "open", "TOKEN_INVALID 1008"]);
  const refused = "ORIGIN_REFUSED 1008";
  assert.deepEqual(await call(addressOf(some)), ["hidden", refused, refused]);
});

test("every response has a request ID, which is the caller's if the caller sent a valid one", async () => {
  const url = addressOf(closed);
  const bearer = { authorization };
  const paths = [
    "/healthz",
    "/v1/wait",
    "/nothing",
    "/openapi.json",
    "/v1/names?to=1",
    "/streams.v1.Streams/Wait",
  ];
  for (const path of paths) {
    const given = await fetch(`${url}${path}`, {
      headers: { ...bearer, "x-request-id": "mine-1" },
    });
    assert.equal(given.headers.get("x-request-id"), "mine-1", path);
    await given.text();
    const made = await fetch(`${url}${path}`, {
      headers: { ...bearer, "x-request-id": "<script>" },
    });
    assert.match(made.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/, path);
    await made.text();
  }
  const session = connectHttp2(url);
  for (const contentType of ["application/grpc", "application/json"]) {
    const headers = {
      ":method": "POST",
      ":path": "/streams.v1.Streams/Wait",
      "content-type": contentType,
    };
    const stream = session.request({ ...headers, "x-request-id": "mine-2" });
    const [answer] = await once(stream.end(), "response");
    assert.equal(answer["x-request-id"], "mine-2", contentType);
    await once(stream.resume(), "close");
  }
  session.close();
});

test("internal errors are logged in full with their request, and reported to the caller without details", async () => {
  const url = addressOf(closed);
  const calls: [path: string, init?: RequestInit][] = [
    ["/v1/wait?atEnd=bug"],
    ["/v1/file?atEnd=bug"],
    ["/v1/count/0?to=1&atEnd=bug"],
    ["/streams.v1.Streams/Wait", { method: "POST", body: '{"atEnd":"bug"}' }],
  ];
  for (const [index, [path, init]] of calls.entries()) {
    const headers = {
      authorization,
      "content-type": "application/json",
      "x-request-id": `bug-${index}`,
    };
    const answer = await fetch(`${url}${path}`, { ...init, headers });
    const text = await answer.text();
    assert.ok(answer.status === 500 || text.includes('"result"'), `${path} ${answer.status}`);
    assert.match(text, /internal error/, path);
    assert.doesNotMatch(text, /a bug|\.ts|node:|\/(?:src|test)\/| at /, path);
    const logged = lines.filter((line) => line.includes(`"requestId":"bug-${index}"`));
    assert.equal(logged.length, 1, path);
    assert.match(logged[0] ?? "", /"error":"a bug","stack":"Error: a bug[^]*"event":"call.broken"/);
  }
});

test("the address of a caller is read from a proxy's headers only if the proxy is trusted", async () => {
  const seen: string[] = [];
  const spy = {
    authenticate({ origin }: { readonly origin: { readonly address: string } }) {
      seen.push(origin.address);
      return Promise.reject(new Error("enough"));
    },
    watch: () => ({ [Symbol.dispose]() {} }),
  };
  const isTrustedProxy = parseNetworks(["127.0.0.1"]);
  await using plain = await openTestStreams(token, { authenticator: spy });
  await using behind = await openTestStreams(token, { authenticator: spy, isTrustedProxy });
  const headers = { "x-forwarded-for": "203.0.113.9, 198.51.100.7" };
  for (const { address } of [plain, behind]) {
    await fetch(`${address}/v1/wait`, { headers });
    await fetch(`${address}/streams.v1.Streams/Wait`, {
      method: "POST",
      body: "{}",
      headers: { ...headers, "content-type": "application/json" },
    });
    const socket = new WebSocket(`${address.replace("http", "ws")}/v1/talk`, { headers });
    await once(socket, "error");
  }
  assert.deepEqual(seen, [...Array(3).fill("127.0.0.1"), ...Array(3).fill("198.51.100.7")]);
});
