import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { createAuthenticator } from "../auth/authenticate.ts";
import { Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { ensureFirstAccount } from "./first-account.ts";
import { testOrigin } from "../../test/fixtures/test-caller.ts";

const log = createLog("silent");
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let dataFolder: string;
before(async () => {
  database = await openTestDatabase();
});
beforeEach(async () => {
  await database.db.deleteFrom("account").execute();
  dataFolder = join(database.folder, newId());
});
after(() => database[Symbol.asyncDispose]());

describe("ensureFirstAccount()", () => {
  it("creates one account, with a key of every scope in a file that only the service's user can read", async () => {
    const { db } = database;
    const first = await ensureFirstAccount({ db, dataFolder, log });
    assert.equal(first?.file, join(dataFolder, "api-key"));
    assert.equal(await readFile(first.file, "utf8"), `${first.secret}\n`);
    assert.equal((await stat(first.file)).mode & 0o777, 0o600);
    assert.equal((await stat(dataFolder)).mode & 0o777, 0o700);
    assert.deepEqual(await readdir(dataFolder), ["api-key"]);
    const caller = await createAuthenticator({ db, publicUrl: () => "", log }).authenticate(
      {
        headers: new Headers({ authorization: `Bearer ${first.secret}` }),
        url: "/",
        origin: testOrigin,
      },
      Accounts.method.createApiKey,
    );
    const scopes = ["transcripts.read", "transcripts.write", "speech", "account", "operator"];
    assert.deepEqual([...caller.scopes], scopes);
    assert.equal(await ensureFirstAccount({ db, dataFolder, log }), undefined, "the second start");
    assert.equal(await readFile(first.file, "utf8"), `${first.secret}\n`);
  });

  it("creates only one account if several nodes start concurrently", async () => {
    const nodes = ["a", "b", "c", "d"].map((name) =>
      ensureFirstAccount({ db: database.db, dataFolder: join(dataFolder, name), log }),
    );
    const made = (await Promise.all(nodes)).filter((first) => first !== undefined);
    assert.equal(made.length, 1);
    assert.equal((await database.db.selectFrom("account").selectAll().execute()).length, 1);
    assert.equal((await database.db.selectFrom("api_key").selectAll().execute()).length, 1);
    const [folder] = await readdir(dataFolder);
    const file = await readFile(join(dataFolder, folder ?? "", "api-key"), "utf8");
    assert.equal(file, `${made[0]?.secret}\n`);
  });

  it("creates no account if the key cannot be written, and replaces a key without an account", async () => {
    const { db } = database;
    await mkdir(join(dataFolder, "api-key", "in the way"), { recursive: true });
    await assert.rejects(ensureFirstAccount({ db, dataFolder, log }), /EISDIR|ENOTEMPTY/);
    assert.deepEqual(await db.selectFrom("account").selectAll().execute(), []);

    // A crash after the file was written but before the commit: the file exists, but the account
    // does not.
    const folder = join(dataFolder, "crashed");
    const lost = await ensureFirstAccount({ db, dataFolder: folder, log });
    await db.deleteFrom("account").execute();
    const made = await ensureFirstAccount({ db, dataFolder: folder, log });
    assert.notEqual(made?.secret, lost?.secret);
    assert.equal(await readFile(join(folder, "api-key"), "utf8"), `${made?.secret}\n`);
  });
});
