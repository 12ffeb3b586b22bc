import assert from "node:assert/strict";
import { test } from "node:test";
import { parseNetworks } from "./networks.ts";

test("parseNetworks() reads networks and addresses of both families", () => {
  const isIn = parseNetworks(["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::1", "203.0.113.7/31"]);
  const rows: [address: string, isIn: boolean][] = [
    ["10.255.0.1", true],
    ["11.0.0.1", false],
    ["192.0.2.1", true],
    ["192.0.2.2", false],
    ["::ffff:10.1.2.3", true],
    ["::ffff:192.0.2.2", false],
    ["2001:db8:ffff::1", true],
    ["2001:db9::1", false],
    ["::1", true],
    ["203.0.113.6", true],
    ["203.0.113.8", false],
    ["", false],
    ["10.0.0.1:80", false],
    ["unknown", false],
  ];
  for (const [address, expected] of rows) assert.equal(isIn(address), expected, address);
  assert.equal(parseNetworks([])("127.0.0.1"), false);
});

test("parseNetworks() names the invalid entry", () => {
  for (const entry of [
    "10.0.0.0/33",
    "10.0.0/8",
    "::/129",
    "proxy",
    "10.0.0.0/8/8",
    "10.0.0.0/",
    "",
    "*",
  ]) {
    assert.throws(() => parseNetworks(["10.0.0.0/8", entry]), RangeError, entry);
  }
});
