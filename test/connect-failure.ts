import assert from "node:assert/strict";
import { ConnectError } from "@connectrpc/connect";

/** The ConnectError that a call fails with. */
export async function connectFailure(call: Promise<unknown>): Promise<ConnectError> {
  const error = await call.then(
    () => assert.fail("it succeeded"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof ConnectError, String(error));
  return error;
}
