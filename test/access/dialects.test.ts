// Who may call each path of another service's protocol. They name no resources of an account, so
// that scopes and credentials are all that there is to check. Wyoming, which has no credentials, is
// tested in test/dialects/wyoming.test.ts.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import type { Scope } from "../../src/auth/caller.ts";
import { tokenCallers, type TestCaller } from "./callers.ts";
import { openAccessService } from "./open-access-service.ts";

interface Row {
  readonly call: "GET" | "POST" | "socket";
  readonly path: string;
  /** The scope that a caller needs; any authenticated caller if there is none. */
  readonly scope?: Scope;
}

const rows: readonly Row[] = [
  { call: "POST", path: "/v1/audio/transcriptions", scope: "speech" },
  { call: "POST", path: "/openai/en/v1/audio/transcriptions", scope: "speech" },
  { call: "GET", path: "/v1/models" },
  { call: "GET", path: "/v1/models/scripted" },
  { call: "POST", path: "/inference", scope: "speech" },
  { call: "POST", path: "/asr", scope: "speech" },
  { call: "POST", path: "/detect-language", scope: "speech" },
  { call: "POST", path: "/v1/listen", scope: "speech" },
  { call: "POST", path: "/v1/realtime/client_secrets", scope: "speech" },
  { call: "POST", path: "/v1/realtime/transcription_sessions", scope: "speech" },
  { call: "socket", path: "/v1/listen?encoding=linear16&sample_rate=16000", scope: "speech" },
  { call: "socket", path: "/vosk", scope: "speech" },
  { call: "socket", path: "/v1/realtime?intent=transcription", scope: "speech" },
  { call: "socket", path: "/jambonz", scope: "speech" },
];

const parts = new AsyncDisposableStack();
let address: string;
let callers: readonly TestCaller[];

before(async () => {
  const service = parts.use(await openAccessService({ HLUST_DEFAULT_LANGUAGE: "en-US" }));
  address = service.address;
  callers = await tokenCallers(await service.newOwner(), await service.newOwner());
});
after(() => parts.disposeAsync());

/** Returns the status of a call; 101 for a socket that opens. */
async function statusOf({ call, path }: Row, headers: TestCaller["headers"]): Promise<number> {
  if (call !== "socket") {
    const answer = await fetch(`${address}${path}`, { method: call, headers });
    await answer.arrayBuffer();
    return answer.status;
  }
  const socket = new WebSocket(`${address.replace("http", "ws")}${path}`, { headers });
  const refused = once(socket, "unexpected-response");
  try {
    const [, response] = await Promise.race([refused, once(socket, "open")]);
    return response?.statusCode ?? 101;
  } finally {
    socket.on("error", () => {}).terminate();
  }
}

for (const row of rows) {
  const { call, path, scope } = row;
  test(`${call} ${path} is for ${scope ?? "every authenticated caller"}`, async () => {
    // A stream token opens one socket only, which test/dialects/ does.
    const some = callers.filter((each) => call !== "socket" || each.maySocket === undefined);
    assert.ok(some.length > 8);
    for (const { name, headers, may } of some) {
      const status = await statusOf(row, headers);
      if (may === undefined) assert.equal(status, 401, name);
      else if (scope !== undefined && !may.has(scope)) assert.equal(status, 403, name);
      else if (call === "socket") assert.equal(status, 101, name);
      else assert.ok([200, 400, 404, 422].includes(status), `${name}: ${status}`);
    }
  });
}
