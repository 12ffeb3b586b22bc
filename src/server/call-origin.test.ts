import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import { isId } from "../std/ids.ts";
import { parseNetworks } from "../std/networks.ts";
import { callOriginOf, findCallOrigin } from "./call-origin.ts";

/**
 * Returns the part of a request that findCallOrigin() reads. The part is made up, because no
 * connection in a test comes from another machine.
 */
const from = (peer: string, headers: IncomingHttpHeaders = {}) => ({
  headers,
  socket: { remoteAddress: peer },
});

test("findCallOrigin() reads X-Forwarded-For from its end, up to the first address that is not a trusted proxy", () => {
  const isTrusted = parseNetworks(["10.0.0.0/8", "::1"]);
  const rows: [peer: string, forwarded: string | undefined, address: string][] = [
    ["192.0.2.1", "198.51.100.1", "192.0.2.1"],
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "203.0.113.9, 198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "203.0.113.9,198.51.100.1 , 10.9.9.9", "198.51.100.1"],
    ["::1", "2001:db8::1", "2001:db8::1"],
    ["::1", "[2001:db8::1]:4711", "2001:db8::1"],
    ["10.0.0.1", "198.51.100.1:4711", "198.51.100.1"],
    ["10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"],
    ["10.0.0.1", "198.51.100.1, <script>, 10.0.0.2", "10.0.0.2"],
    ["10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["10.0.0.1", ",,", "10.0.0.1"],
  ];
  for (const [peer, forwarded, address] of rows) {
    const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
    assert.equal(
      findCallOrigin(from(peer, headers), isTrusted).address,
      address,
      `${peer} ${forwarded}`,
    );
    assert.equal(callOriginOf(from(peer, headers)).address, peer, "no proxy is trusted by itself");
  }
});

test("findCallOrigin() keeps a well-formed x-request-id, and its result is stored for the request", () => {
  const none = parseNetworks([]);
  for (const id of ["a", "A.b_c-9", "x".repeat(128)]) {
    const request = from("192.0.2.1", { "x-request-id": id });
    assert.equal(findCallOrigin(request, none).requestId, id);
    assert.equal(callOriginOf(request).requestId, id);
  }
  for (const id of ["", "x".repeat(129), "a b", "a,b", "é", 'a"', "a\tb"]) {
    const request = from("192.0.2.1", { "x-request-id": id });
    const { requestId } = findCallOrigin(request, none);
    assert.ok(isId(requestId), id);
    assert.equal(callOriginOf(request).requestId, requestId);
  }
});
