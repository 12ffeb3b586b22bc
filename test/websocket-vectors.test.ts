// Runs the "websocket" vectors of HLUST_VECTORS, or of the committed file, against a real server:
// the token of a handshake, and the protocol in the response.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { openTestStreams } from "./fixtures/open-test-streams.ts";

const foreign = process.env["HLUST_VECTORS"];
const path = foreign ?? join(import.meta.dirname, "vectors/transcoding.json");
const { websocket = [] }: { websocket?: Vector[] } = JSON.parse(readFileSync(path, "utf8"));

interface Vector {
  readonly id: string;
  /** The subprotocols that a page passes to a browser. */
  readonly subprotocols?: readonly string[];
  /** The raw header Sec-WebSocket-Protocol. */
  readonly header?: string;
  /** The equivalent header Authorization; null if there is none. */
  readonly authorization?: string | null;
  readonly selected?: string | null;
}

/**
 * The keys that a vector can have. A vector with other keys concerns a feature that is not served
 * here.
 */
const known = new Set(["id", "subprotocols", "header", "authorization", "selected"]);
const aside = new Set(["source", "note", "conflict", "optional"]);

test("vectors: websocket", async (t) => {
  const failed: string[] = [];
  const counts = { passed: 0, skipped: 0 };
  for (const vector of websocket) {
    const isKnown = Object.keys(vector).every((name) => known.has(name) || aside.has(name));
    const header = vector.header ?? vector.subprotocols?.join(", ");
    if (!isKnown || header === undefined || vector.authorization === undefined) {
      counts.skipped += 1;
      continue;
    }
    try {
      await check(vector, header, vector.authorization?.replace(/^Bearer /, ""));
      counts.passed += 1;
    } catch (error) {
      failed.push(`${vector.id}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(failed, []);
  assert.ok(counts.passed > 0 || foreign !== undefined);
});

test("a selected protocol is Bearer as the caller has spelled it, never the token", async () => {
  const rows: [header: string, selected: string | undefined][] = [
    ["Bearer, foobar", "Bearer"],
    ["bearer,foobar", "bearer"],
    ["chat, Bearer, foobar", "Bearer"],
  ];
  for (const [header, selected] of rows) {
    await check({ id: header, selected: selected ?? null }, header, "foobar");
  }
});

async function check(vector: Vector, header: string, token: string | undefined): Promise<void> {
  await using server = await openTestStreams(token ?? "unknown");
  const { status, selected } = await shakeHands(`${server.address}/v1/talk`, header);
  assert.deepEqual(server.seen.tokens, [token]);
  assert.equal(status, token === undefined ? 401 : 101);
  if (vector.selected !== undefined) assert.equal(selected, vector.selected ?? undefined);
  if (token !== undefined) assert.ok(!selected?.includes(token), "the token is not echoed");
}

async function shakeHands(
  url: string,
  protocols: string,
): Promise<{ status: number | undefined; selected: string | undefined }> {
  return await new Promise((resolve, reject) => {
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": Buffer.alloc(16).toString("base64"),
      "sec-websocket-protocol": protocols,
    };
    request(url, { headers })
      .on("upgrade", (response, socket) => {
        socket.destroy();
        resolve({
          status: response.statusCode,
          selected: response.headers["sec-websocket-protocol"],
        });
      })
      .on("response", (response) => {
        response.resume();
        resolve({ status: response.statusCode, selected: undefined });
      })
      .on("error", reject)
      .end();
  });
}
