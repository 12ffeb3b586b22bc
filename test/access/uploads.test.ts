// Who may create, read, continue and delete a resumable upload, with a token or a session.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newId } from "../../src/std/ids.ts";
import { addApiKey } from "../fixtures/auth-fixture.ts";
import { addSignedIn } from "../fixtures/signed-in.ts";
import { part } from "../spec/tus-service.ts";
import { openTestConsole, type TestConsole } from "./open-console.ts";

let console: TestConsole;
before(async () => {
  console = await openTestConsole();
});
after(() => console[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;
const prefix = "/console/api";

/** Calls all methods as a caller; returns their statuses. The upload belongs to `of`. */
async function statusesOf(path: string, caller: Headers, of: Headers): Promise<number[]> {
  const send = async (method: string, url: string, headers: Headers, body = "") => {
    const all = { "tus-resumable": "1.0.0", ...headers };
    return await fetch(url, { method, headers: all, ...(body !== "" && { body }) });
  };
  const { address } = console.service;
  const own = "cookie" in of ? `${address}${prefix}` : address;
  const made = await send("POST", `${own}/v1alpha1/uploads`, { ...of, "upload-length": "2" });
  assert.equal(made.status, 201);
  const id = made.headers.get("location")?.split("/").at(-1) ?? "";
  const uploads = `${address}${path}/v1alpha1/uploads`;
  const answers = [
    await send("POST", uploads, { ...caller, "upload-length": "2" }),
    await send("HEAD", `${uploads}/${id}`, caller),
    await send("PATCH", `${uploads}/${id}`, { ...caller, ...part(0) }, "a"),
    await send("DELETE", `${uploads}/${id}`, caller),
  ];
  return answers.map(({ status }) => status);
}

test("an upload is open to its account's writers, does not exist for other accounts, and is closed to other pages", async () => {
  const { db, accountId, service } = console;
  const otherId = newId();
  await db.insertInto("account").values({ id: otherId, display_name: "other" }).execute();
  const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
  const key = async (id: string, ...scopes: Parameters<typeof addApiKey>[2]): Promise<Headers> =>
    bearer((await addApiKey(db, id, scopes)).token);
  const session = async (role: "OWNER" | "MEMBER" | "VIEWER", id = accountId): Promise<Headers> =>
    (await addSignedIn(db, id, role)).headers;
  const own = bearer(service.key);
  const member = await session("MEMBER");
  const { "x-hlust-console": _, ...plain } = member;
  const done = [201, 200, 204, 204];
  const refused = [403, 403, 403, 403];
  const rows: [caller: string, path: string, headers: Headers, statuses: number[]][] = [
    ["a key that may write", "", await key(accountId, "transcripts.write"), done],
    ["a key that may only read", "", await key(accountId, "transcripts.read", "speech"), refused],
    ["a key of another account", "", await key(otherId, "transcripts.write"), [201, 404, 404, 404]],
    ["no token", "", {}, [401, 401, 401, 401]],
    ["a cookie outside the console", "", member, [401, 401, 401, 401]],
    ["a member's session", prefix, member, done],
    ["a viewer's session", prefix, await session("VIEWER"), refused],
    ["an owner of another account", prefix, await session("OWNER", otherId), [201, 404, 404, 404]],
    ["a token without a session", prefix, own, refused],
    ["a page of another site", prefix, { ...member, "sec-fetch-site": "cross-site" }, refused],
    ["a call without the console's header", prefix, plain, [403, 200, 403, 403]],
  ];
  for (const [caller, path, headers, statuses] of rows) {
    assert.deepEqual(await statusesOf(path, headers, own), statuses, caller);
  }
  assert.deepEqual(await statusesOf("", own, member), done, "an upload of a session");
});
