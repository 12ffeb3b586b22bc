import assert from "node:assert/strict";
import { test } from "node:test";
import { addressBlock } from "./address-block.ts";

test("addressBlock() returns the whole of an IPv4 address, and the first half of an IPv6 address", () => {
  const rows = [
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2:ffff::1", "2001:db8:1:2::/64"],
    ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["", ""],
    ["not:an:address", "not:an:address"],
  ] as const;
  for (const [address, block] of rows) assert.equal(addressBlock(address), block, address);
});
