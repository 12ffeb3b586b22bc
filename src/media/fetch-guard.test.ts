import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { after, before, test } from "node:test";
import {
  answerRange,
  loopback,
  media,
  openFetchFixture,
  refused,
  serve,
  type FetchFixture,
} from "../../test/fetch-fixture.ts";
import { redirectTarget } from "./media-hop.ts";
import { notPublic, parseMediaAllowList } from "./media-url.ts";

let fixture: FetchFixture;
let fetched: FetchFixture["fetched"];

before(async () => {
  fixture = await openFetchFixture();
  ({ fetched } = fixture);
});

after(() => fixture[Symbol.asyncDispose]());

test("`fetchMedia()` follows five redirects, each checked before anything is reached", async () => {
  let canary = 0;
  await using inside = await serve(() => canary++, "127.0.0.2");
  const hop = (location: string): RequestListener => {
    return (request, response) => {
      const step = Number(/\d+$/.exec(request.url ?? "")?.[0] ?? 0);
      if (location === "" && step === 5) return answerRange(request, response);
      response.statusCode = [301, 302, 303, 307, 308][step % 5] ?? 302;
      response.setHeader("location", location || `/${step + 1}`);
      response.end("moved");
    };
  };
  await using chain = await serve(hop(""));
  assert.equal((await fetched(`${chain.url}/0`)).sizeBytes, media.length);
  await using loop = await serve(hop("/9"));
  await refused(fetched(loop.url), { reason: "MEDIA_REDIRECTS", message: /more than 5 times/ });
  const rows: readonly (readonly [string, string])[] = [
    [inside.url, "MEDIA_ADDRESS_REFUSED"],
    [`http://[::ffff:127.0.0.2]:${inside.port}/`, "MEDIA_ADDRESS_REFUSED"],
    ["http://2130706434/", "MEDIA_ADDRESS_REFUSED"],
    ["http://169.254.169.254/latest/meta-data/", "MEDIA_ADDRESS_REFUSED"],
    ["//10.0.0.1/", "MEDIA_ADDRESS_REFUSED"],
    ["http://localhost/", "MEDIA_ADDRESS_REFUSED"],
    ["file:///etc/passwd", "MEDIA_URL_REFUSED"],
    ["gopher://127.0.0.1/", "MEDIA_URL_REFUSED"],
    ["http://user:pw@127.0.0.1/", "MEDIA_URL_REFUSED"],
    ["http://", "MEDIA_URL_REFUSED"],
  ];
  for (const [location, reason] of rows) {
    await using server = await serve(hop(location));
    await refused(fetched(server.url), { reason, message: /not public|redirects to one that/ });
  }
  assert.equal(canary, 0);
});

test("`redirectTarget()` does not go from https to http", () => {
  const from = new URL("https://media.example/a");
  assert.throws(() => redirectTarget(from, "http://media.example/b", loopback), /http:\/\//);
  assert.equal(redirectTarget(from, "b?c", loopback).href, "https://media.example/b?c");
});

test("`fetchMedia()` connects only to addresses that were checked, and says the same of all others", async () => {
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
  // Another network is allowed: so at submit the port cannot be told to be refused yet.
  const elsewhere = { allow: loopback, resolve: async () => ["8.8.8.8"] };
  await refused(fetched("http://media.example:8080/", elsewhere), {
    reason: "MEDIA_URL_REFUSED",
    message: /port 8080/,
  });
  // Rebinding: public when it is checked, loopback when it would be asked again.
  let asked = 0;
  const rebinding = async (): Promise<string[]> => (asked++ === 0 ? ["192.0.2.1"] : ["127.0.0.1"]);
  const test = parseMediaAllowList(["192.0.2.0/24"]);
  const limits = { connectMs: 200, triesMax: 1 };
  await refused(
    fetched(`http://media.example${port}/`, { allow: test, resolve: rebinding, limits }),
    {
      reason: "MEDIA_UNREACHABLE",
      message: /could not be reached|refused/,
    },
  );
  assert.equal(asked, 1);
  // An address that is not public beside one that may be reached: only the latter is.
  const mixed = { allow: loopback, resolve: async () => ["10.0.0.1", "127.0.0.1"] };
  assert.equal(canary, 0);
  assert.equal((await fetched(`http://media.example${port}/`, mixed)).sizeBytes, 6);
  assert.equal(canary, 1);
});

test("`fetchMedia()` answers as fast and the same for open and closed ports inside", async () => {
  await using inside = await serve((_, response) => response.end("open"));
  const nothing = parseMediaAllowList(["192.0.2.1"]);
  const resolve = async (): Promise<string[]> => ["127.0.0.1"];
  const times = [];
  for (const port of [inside.port, 1]) {
    const startedAt = performance.now();
    await assert.rejects(fetched(`http://media.example:${port}/`, { allow: nothing, resolve }), {
      message: notPublic,
    });
    times.push(performance.now() - startedAt);
  }
  assert.ok(Math.abs((times[0] ?? 0) - (times[1] ?? 0)) < 50, times.join());
});
