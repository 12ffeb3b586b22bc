// /console/settings: what a user of the console has chosen, the same in each browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addSignedIn } from "../fixtures/signed-in.ts";
import { openTestConsole, type TestConsole } from "./open-console.ts";

let console: TestConsole;
before(async () => {
  console = await openTestConsole();
});
after(() => console[Symbol.asyncDispose]());

const path = "/console/settings";

test("settings belong to a member, in each browser, and only that member can read them", async () => {
  const { ask, db, accountId } = console;
  const anna = await addSignedIn(db, accountId, "OWNER");
  const birta = await addSignedIn(db, accountId, "VIEWER");
  const read = async ({ headers }: typeof anna) => (await ask({ path, headers })).json;
  assert.deepEqual(await read(anna), { settings: {} });
  const settings = { keys: { divide: "Enter", "þ\u0000\ud800": [1, null] }, speed: 1.1 };
  for (const next of [{ first: true }, settings]) {
    const saved = await ask({
      method: "PUT",
      path,
      headers: anna.headers,
      body: { settings: next },
    });
    assert.equal(saved.status, 200);
    assert.deepEqual(saved.json, { settings: next });
  }
  assert.deepEqual(await read(anna), { settings });
  assert.deepEqual(await read(birta), { settings: {} });
  const keySecret = await console.signIn();
  const own = { settings: { key: 1 } };
  assert.equal((await ask({ method: "PUT", path, secret: keySecret, body: own })).status, 200);
  assert.deepEqual((await ask({ path, secret: keySecret })).json, own);
  assert.deepEqual(await read(anna), { settings });
  await db.deleteFrom("member").where("id", "=", anna.memberId).execute();
  const rows = await db.selectFrom("console_settings").select("actor").execute();
  assert.equal(rows.length, 1, "settings are deleted with their member");
});

test("refused settings change nothing, and the error names the field and the limit", async () => {
  const { ask } = console;
  const secret = await console.signIn();
  const kept = { settings: { kept: true } };
  assert.equal((await ask({ method: "PUT", path, secret, body: kept })).status, 200);
  const rows: [body: unknown, status: number, words: RegExp][] = [
    [{}, 400, /must be a JSON object, not absent/],
    [{ settings: null }, 400, /must be a JSON object, not [^a-z]*null/],
    [{ settings: [] }, 400, /must be a JSON object, not /],
    [{ settings: "a" }, 400, /must be a JSON object, not /],
    [{ settings: {}, other: 1 }, 400, /"other".*is not a field/],
    [{ settings: { a: "x".repeat(16_384) } }, 400, /16392 bytes as JSON; at most 16384/],
    [{ settings: { a: "x".repeat(40_000) } }, 413, /./],
    [[], 400, /not a JSON object/],
  ];
  for (const [body, status, words] of rows) {
    const answer = await ask({ method: "PUT", path, secret, body });
    assert.equal(answer.status, status, JSON.stringify(answer.json));
    assert.match(JSON.stringify(answer.json), words);
  }
  assert.deepEqual((await ask({ path, secret })).json, kept);
  assert.equal((await ask({ path })).status, 401);
  assert.equal((await ask({ method: "PUT", path, body: kept })).status, 401);
  const post = await ask({ method: "POST", path, secret, body: kept });
  assert.deepEqual([post.status, post.headers.get("allow")], [405, "GET, PUT"]);
});
