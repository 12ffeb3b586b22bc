import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import {
  answerRange,
  loopback,
  media,
  openCanary,
  openFetchFixture,
  refused,
  serve,
  serveRaw,
  serveTcp,
  type FetchFixture,
} from "../../test/fixtures/fetch-fixture.ts";
import { until } from "../../test/fixtures/until.ts";
import { redirectTarget } from "./media-hop.ts";
import { notPublic, parseMediaAllowList } from "./media-url.ts";
import { pinnedConnector } from "./pinned-connector.ts";

const run = promisify(execFile);

let fixture: FetchFixture;
let fetched: FetchFixture["fetched"];

before(async () => {
  fixture = await openFetchFixture();
  ({ fetched } = fixture);
});

after(() => fixture[Symbol.asyncDispose]());

test("fetchMedia() follows five redirects, and does not send cookies set by servers", async () => {
  const seen: IncomingMessage[] = [];
  await using chain = await serve((request, response) => {
    const step = seen.push(request) - 1;
    if (step === 5) return answerRange(request, response);
    response.writeHead([301, 302, 303, 307, 308][step] ?? 302, {
      location: step === 3 ? `?d=${step + 1}#t=7` : `/a/${step + 1}?b=%20#c`,
      "set-cookie": "a=b",
      "www-authenticate": "Basic",
    });
    response.end("moved");
  });
  assert.equal((await fetched(`${chain.url}/0`)).sizeBytes, media.length);
  assert.deepEqual(
    seen.map(({ url }) => url),
    ["/0", "/a/1?b=%20", "/a/2?b=%20", "/a/3?b=%20", "/a/3?d=4", "/a/5?b=%20"],
  );
  for (const { headers } of seen) {
    assert.equal(headers.cookie ?? headers.authorization ?? headers.referer, undefined);
  }
});

test("fetchMedia() decodes the target of a redirect as UTF-8, as browsers do", async () => {
  const seen: (string | undefined)[] = [];
  await using target = await serve((request, response) => {
    seen.push(request.url);
    answerRange(request, response);
  });
  await using server = await serveRaw((socket) => {
    socket.end(`HTTP/1.1 302 Found\r\nLocation: ${target.url}/hljóð\r\nContent-Length: 0\r\n\r\n`);
  });
  await fetched(server.url);
  assert.deepEqual(seen, ["/hlj%C3%B3%C3%B0"]);
});

test("fetchMedia() fails when redirects do not lead to media", async () => {
  const rows: readonly (readonly [number, string | undefined, string, RegExp])[] = [
    [302, "/again", "MEDIA_REDIRECTS", /redirects more than 5 times$/],
    [302, undefined, "MEDIA_STATUS", /answered 302 Found$/],
    [300, "/other", "MEDIA_STATUS", /answered 300 Multiple Choices$/],
    [304, "/other", "MEDIA_STATUS", /answered 304 Not Modified$/],
    [305, "/other", "MEDIA_STATUS", /answered 305 Use Proxy$/],
  ];
  for (const [code, location, reason, message] of rows) {
    let closed = 0;
    let count = 0;
    await using server = await serve((_, response) => {
      count++;
      response.writeHead(code, location === undefined ? {} : { location });
      response.on("close", () => closed++);
      if (code === 304) return response.end();
      // The body of an error response never ends, and is not read.
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on("drain", more);
      return more();
    });
    await refused(fetched(server.url), { reason, message });
    assert.equal(count, code === 302 && location !== undefined ? 6 : 1);
    await until(async () => closed === count);
  }
});

test("fetchMedia() checks each redirect like the first URL", async () => {
  await using inside = await openCanary();
  const { port } = inside;
  const address = "MEDIA_ADDRESS_REFUSED";
  const url = "MEDIA_URL_REFUSED";
  const rows: readonly (readonly [string, string])[] = [
    [`http://127.0.0.2:${port}/`, address],
    [`http://[::ffff:127.0.0.2]:${port}/`, address],
    [`//[::1]:${port}/`, address],
    ["http://2130706434/", address],
    ["http://169.254.169.254/latest/meta-data/", address],
    ["//10.0.0.1/", address],
    ["http://localhost/", address],
    ["http:\\\\10.0.0.1\\", address],
    ["file:///etc/passwd?secret", url],
    ["gopher://127.0.0.1/secret", url],
    ["ftp://user:secret@127.0.0.1/", url],
    ["data:audio/wav;base64,secret", url],
    ["javascript:secret", url],
    ["http://user:secret@127.0.0.1/", url],
    ["http://8.8.8.8:6379/?secret", url],
    ["https://8.8.8.8:22/?secret", url],
    ["http://", url],
    ["http://[secret", url],
    [`http://8.8.8.8/${"secret".repeat(1500)}`, url],
  ];
  for (const [location, reason] of rows) {
    await using server = await serve((_, response) => {
      response.writeHead(302, { location }).end();
    });
    const message =
      /^(the address of the host is not public|the URL redirects to one that (?!.*secret).+)$/;
    await refused(fetched(server.url), { reason, message });
  }
  assert.equal(inside.connections(), 0);
});

test("redirectTarget() does not follow from https to http", () => {
  const from = new URL("https://media.example/a");
  assert.throws(() => redirectTarget(from, "http://media.example/b", loopback), /http:\/\//);
  assert.equal(redirectTarget(from, "b?c", loopback).href, "https://media.example/b?c");
});

test("fetchMedia() connects only to checked addresses, and reports the same error for all others", async () => {
  let canary = 0;
  await using inside = await serve((_, response) => {
    canary++;
    response.end("secret");
  });
  const port = `:${inside.port}`;
  const nothing = parseMediaAllowList([]);
  const rows: readonly (readonly string[])[] = [
    ["127.0.0.1"],
    ["::ffff:127.0.0.1"],
    ["10.0.0.1", "127.0.0.1"],
    ["169.254.169.254"],
    ["64:ff9b::7f00:1"],
    ["not an address"],
    [],
  ];
  for (const addresses of rows) {
    const options = { allow: nothing, resolve: async () => addresses };
    await assert.rejects(fetched("http://media.example/", options), { message: notPublic });
  }
  // A different network is allowed for this port, so the port cannot be refused at submission.
  const elsewhere = { allow: loopback, resolve: async () => ["8.8.8.8"] };
  await refused(fetched("http://media.example:8080/", elsewhere), {
    reason: "MEDIA_URL_REFUSED",
    message: /port 8080/,
  });
  // Only the allowed one of the two private addresses is used.
  const mixed = { allow: loopback, resolve: async () => ["10.0.0.1", "127.0.0.1"] };
  assert.equal(canary, 0);
  assert.equal((await fetched(`http://media.example${port}/`, mixed)).sizeBytes, 6);
  assert.equal(canary, 1);
});

test("fetchMedia() resolves a name once per connection, and checks every resolved address", async () => {
  await using inside = await openCanary();
  // TEST-NET-1 stands in for the internet; nothing responds there.
  const allow = parseMediaAllowList(["192.0.2.0/24", "127.0.0.1"]);
  const private_ = ["127.0.0.2", "::1", "::ffff:127.0.0.2"];
  const rows: readonly (readonly [string, (time: number) => readonly string[], RegExp])[] = [
    ["public, then private", (n) => (n === 1 ? ["192.0.2.1"] : private_), /not public$/],
    ["both at once", () => ["192.0.2.1", ...private_], /could not be reached|refused the/],
    ["both, in turns", (n) => (n % 2 === 1 ? ["192.0.2.1"] : private_), /not public$/],
    ["private, then public", (n) => (n === 1 ? private_ : ["192.0.2.1"]), /not public$/],
    [
      "many",
      () => [...private_, ...Array<string>(5_000).fill("192.0.2.1")],
      /could not be reached|refused the/,
    ],
  ];
  const limits = { connectMs: 50 };
  for (const [name, answers, message] of rows) {
    let asked = 0;
    const resolve = async (): Promise<readonly string[]> => answers(++asked);
    const url = `http://media.example:${inside.port}/`;
    await assert.rejects(fetched(url, { allow, resolve, limits }), { message }, name);
  }
  // The host of the second hop is resolved and checked too.
  await using server = await serve((_, response) => {
    response.writeHead(302, { location: `http://media.example:${inside.port}/` }).end();
  });
  const resolve = async (): Promise<readonly string[]> => private_;
  await assert.rejects(fetched(server.url, { allow, resolve }), { message: notPublic });
  // The second attempt also resolves the host again, and must not connect to the new address.
  let count = 0;
  await using breaking = await serve((request) => {
    count++;
    request.socket.destroy();
  });
  const turning = async (): Promise<readonly string[]> => (count === 0 ? ["127.0.0.1"] : private_);
  const again = fetched(`http://media.example:${breaking.port}/`, { allow, resolve: turning });
  await assert.rejects(again, { message: notPublic });
  assert.equal(count, 1);
  assert.equal(inside.connections(), 0);
});

test("pinnedConnector() closes a connection to any other address before a byte is sent", async () => {
  let bytes = 0;
  let closed = 0;
  await using server = await serveTcp((socket) => {
    socket.on("data", (chunk) => (bytes += chunk.length)).on("close", () => closed++);
  });
  // A host that is an IP address is not resolved, so the check before the connection is bypassed.
  for (const [pins, isTaken] of [
    [["192.0.2.1"], false],
    [["127.0.0.1"], true],
  ] as const) {
    let connected = 0;
    const onConnected = (): void => void connected++;
    const connect = pinnedConnector(new Set(pins), { connectMs: 5_000, onConnected });
    const to = {
      hostname: "127.0.0.1",
      host: "127.0.0.1",
      protocol: "http:",
      port: `${server.port}`,
    };
    const { promise, resolve } = Promise.withResolvers<string>();
    connect(to, (error, socket) => {
      socket?.destroy();
      resolve(error?.message ?? "taken");
    });
    assert.equal(await promise, isTaken ? "taken" : notPublic);
    assert.equal(connected, isTaken ? 1 : 0);
  }
  await until(async () => closed === 2);
  assert.equal(bytes, 0);
});

test("fetchMedia() fails with the same delay and message for open and closed internal ports", async () => {
  await using inside = await openCanary();
  const closed = await serve(() => {});
  await closed[Symbol.asyncDispose]();
  // The allowed address makes the test reach the address check instead of the port check.
  const allow = parseMediaAllowList(["192.0.2.1"]);
  const resolve = async (): Promise<string[]> => ["127.0.0.1"];
  const ports = [inside.port, closed.port] as const;
  const times = ports.map((): number[] => []);
  for (let round = 0; round < 21; round++) {
    for (const [which, port] of ports.entries()) {
      const startedAt = performance.now();
      const answer = fetched(`http://media.example:${port}/`, { allow, resolve });
      await assert.rejects(answer, { message: notPublic });
      times[which]?.push(performance.now() - startedAt);
    }
  }
  // Compares the medians of interleaved calls, because other load affects both equally.
  const [open = NaN, shut = NaN] = times.map((each) => each.toSorted((a, b) => a - b)[10]);
  assert.ok(Math.abs(open - shut) < 50, `${open} ${shut}`);
  assert.equal(inside.connections(), 0);
});

test("fetchMedia() ignores a proxy set in the environment", async () => {
  const proxied: (string | undefined)[] = [];
  await using proxy = await serve((request, response) => {
    proxied.push(request.url);
    response.end("from the proxy");
  });
  await using server = await serve((_, response) => response.end("from the server"));
  const proxyUrl = proxy.url;
  const env = {
    PATH: process.env["PATH"],
    NODE_USE_ENV_PROXY: "1",
    ...Object.fromEntries(
      ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"].map((name) => [
        name,
        proxyUrl,
      ]),
    ),
  };
  const script = `
    import { get } from "node:http";
    import { text } from "node:stream/consumers";
    import { fetchMedia } from ${JSON.stringify(import.meta.resolve("./fetch-media.ts"))};
    import { parseMediaAllowList } from ${JSON.stringify(import.meta.resolve("./media-url.ts"))};
    const put = async (_, bytes) => console.log(Buffer.concat(await Array.fromAsync(bytes)).toString());
    const allow = parseMediaAllowList(["127.0.0.1"]);
    const url = ${JSON.stringify(server.url)};
    await fetchMedia({ url, id: "", store: { put }, allow, bytesMax: 1000 });
    get(url, async (response) => console.log(await text(response)));
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], {
    env,
  });
  // Other code in the process, such as fetch(), uses the proxy.
  assert.equal(stdout, "from the server\nfrom the proxy\n");
  assert.deepEqual(proxied, [`${server.url}/`]);
});
