import assert from "node:assert/strict";
import { createServer } from "node:tls";
import { test } from "node:test";
import { loopback, serveRaw } from "../../test/fixtures/fetch-fixture.ts";
import { certificates } from "../../test/jobs/tls-certificates.ts";
import { resolveHost } from "../media/fetch-media.ts";
import { sendDelivery } from "./send-delivery.ts";

/** Returns the problem that the owner of the webhook sees. */
async function problemOf(url: string): Promise<string> {
  const attempt = await sendDelivery(
    { url, body: "{}", headers: {} },
    {
      allow: loopback,
      resolve: resolveHost,
      timeoutMs: 10_000,
      signal: new AbortController().signal,
    },
  );
  assert.ok(!attempt.isTaken);
  return attempt.problem;
}

test("each fault of a receiver has its own message and is not reported as a failure of the service", async () => {
  const absent = `https://${`${"a".repeat(60)}.`.repeat(5)}example/`;
  assert.equal(await problemOf(absent), "the host of the receiver does not exist: no such name");

  await using odd = await serveRaw((socket) => socket.end("HTTP/1.1 099 Odd\r\n\r\n"));
  assert.equal(await problemOf(odd.url), "the receiver does not answer in HTTP");

  const server = createServer(certificates["client.example"] ?? {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const problem = problemOf(`https://127.0.0.1:${address.port}/`).finally(() => server.close());
  assert.equal(await problem, "the certificate of the receiver cannot be trusted");
});
