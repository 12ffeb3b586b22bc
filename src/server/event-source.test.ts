// Reads event streams with an EventSource, as browsers do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { openTestStreams, token } from "../../test/fixtures/open-test-streams.ts";

test("an EventSource gets results and errors, and stops reconnecting after the end of the stream", async () => {
  await using server = await openTestStreams();
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  await using _ = { [Symbol.asyncDispose]: () => browser.close() };
  const page = await browser.newPage();
  await page.goto(`${server.address}/healthz`);
  const listen = (path: string) =>
    page.evaluate(
      (url) =>
        new Promise<string[]>((resolve) => {
          const events: string[] = [];
          const source = new EventSource(url);
          const note = (event: Event) =>
            events.push(`${event.type} ${"data" in event ? String(event.data) : ""}`);
          source.addEventListener("message", note);
          source.addEventListener("end", note);
          // The connection ended without an error in the stream. The connection is closed
          // permanently when the server responds with 204.
          source.addEventListener("error", () => {
            events.push(`error ${source.readyState}`);
            if (source.readyState === EventSource.CLOSED) resolve(events);
          });
        }),
      path,
    );
  const [whole, failed, refused] = await Promise.all([
    listen(`/v1/count/1?to=3&token=${token}`),
    listen(`/v1/count/1?to=2&atEnd=refuse&token=${token}`),
    listen("/v1/count/1?to=2"),
  ]);
  // The EventSource reconnects by itself after three seconds, and gets 204.
  assert.deepEqual(whole, [
    'message {"result":{"n":1}}',
    'message {"result":{"n":2}}',
    "end {}",
    "error 0",
    "error 2",
  ]);
  assert.equal(failed[0], 'message {"result":{"n":1}}');
  assert.match(failed[1] ?? "", /^message \{"error":\{"code":9,/);
  assert.deepEqual(failed.slice(2), ["error 0", "error 2"]);
  assert.deepEqual(refused, ["error 2"], "401, no token");
  assert.equal(server.seen.over, 2, "each method was called once");
});
