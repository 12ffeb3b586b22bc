import assert from "node:assert/strict";
import { test } from "node:test";
import { Code } from "@connectrpc/connect";
import { rpcCodes } from "./error-codes.ts";
import { errorCodes, errorStatuses } from "./error-statuses.ts";

test("the numbers of the error codes are those of Connect", () => {
  const numbers = Object.fromEntries(errorCodes.map((name) => [name, errorStatuses[name].code]));
  assert.deepEqual(numbers, { ...rpcCodes });
  assert.equal(errorCodes.length, Object.values(Code).filter(Number.isInteger).length);
});
