import assert from "node:assert/strict";
import { test } from "node:test";
import { labelOf, serviceRecords } from "./service-records.ts";

test("labelOf() makes one label of at most 63 bytes of a machine and a port", () => {
  for (const [hostname, label] of [
    ["kitchen", "hlust-kitchen-10300"],
    ["Kitchen.home.example", "hlust-kitchen-10300"],
    ["eldhús_2", "hlust-eldh-s-2-10300"],
    ["", "hlust-10300"],
    ["a".repeat(64), `hlust-${"a".repeat(51)}-10300`],
  ] as const) {
    assert.equal(labelOf(hostname, 10_300), label);
    assert.ok(labelOf(hostname, 65_535).length <= 63);
  }
});

test("serviceRecords() ends the records of the service alone, not its type", () => {
  const service = { label: "hlust-a-1", port: 1, addresses: ["192.0.2.2", "2001:db8::2"] };
  const types = (ttlMax?: number) => serviceRecords(service, ttlMax).map(({ type }) => type);
  assert.deepEqual(types(), ["PTR", "PTR", "SRV", "TXT", "A", "AAAA"]);
  assert.deepEqual(types(0), ["PTR", "SRV", "TXT", "A", "AAAA"]);
});
