import assert from "node:assert/strict";
import { test } from "node:test";
import { takesEncoding } from "./accept-encoding.ts";

test("takesEncoding() reads Accept-Encoding", () => {
  const rows: [acceptEncoding: string, takes: boolean][] = [
    ["", false],
    ["gzip, deflate, br", false],
    ["gzip, deflate, br, zstd", true],
    ["ZSTD", true],
    ["zstd;q=0", false],
    ["zstd; q=0.000", false],
    ["zstd;q=0.5", true],
    ["zstd;q=0.5, identity", false],
    ["zstd;q=0.5, identity;q=0.1", true],
    ["zstd;q=often", false],
    ["*", false],
    ["x-zstd, zstandard", false],
    [",,zstd", true],
  ];
  for (const [acceptEncoding, takes] of rows) {
    assert.equal(takesEncoding(acceptEncoding, "zstd"), takes, acceptEncoding);
  }
});
