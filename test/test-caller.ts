import {
  createContextValues,
  createHandlerContext,
  type HandlerContext,
} from "@connectrpc/connect";
import { callerKey, type Caller, type CallOrigin, type Scope } from "../src/auth/caller.ts";
import { Accounts } from "../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { newId } from "../src/std/ids.ts";

/** Where tests call from, as documentation has it (RFC 5737). */
export const testOrigin: CallOrigin = {
  address: "192.0.2.1",
  requestId: "019aa5a0-0000-7000-8000-000000000001",
};

/** A caller with an API key of these scopes, for methods that are called without a door. */
export function testCaller(accountId: string, scopes: readonly Scope[]): Caller {
  const keyId = newId();
  return {
    accountId,
    actor: `apiKeys/${keyId}`,
    credential: { kind: "api_key", id: keyId },
    keyId,
    role: undefined,
    scopes: new Set(scopes),
    origin: testOrigin,
  };
}

/** What a method is called with, whichever method it is, without a door: by whom, and with which headers. */
export function callBy(
  caller: Caller,
  requestHeader: Readonly<Record<string, string>> = {},
): HandlerContext {
  return createHandlerContext({
    service: Accounts,
    method: Accounts.method.getCaller,
    protocolName: "rest",
    requestMethod: "POST",
    url: "http://hlust.test/",
    requestHeader,
    contextValues: createContextValues().set(callerKey, caller),
  });
}

/** For authenticators of tests: nothing is ever revoked. */
export const unwatched = { watch: () => ({ [Symbol.dispose]() {} }) };
