import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { openOwnPostgres } from "../src/database/own-postgres.ts";
import { createLog } from "../src/std/log.ts";
import { packageVersion } from "../src/std/version.ts";
import { runHlust } from "./fixtures/run-hlust.ts";
import { openTestService } from "./spec/service.ts";

const log = createLog("silent");
const parts = new AsyncDisposableStack();
/** A superuser's connection pool. */
let pool: pg.Pool;
/** Returns the DATABASE_URL of a role. */
let urlOf: (role: string, name?: string) => string;

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), "hlust-migrate-"));
  parts.defer(() => rm(folder, { recursive: true }));
  const server = parts.use(await openOwnPostgres({ folder, log }));
  const host = encodeURIComponent(join(folder, "18"));
  urlOf = (role, name = "archive") => `postgres://${role}@/${name}?host=${host}`;
  const admin = new pg.Client(server.connection);
  await admin.connect();
  await admin.query("create role deploy login; create role app login");
  await admin.query("create database archive owner deploy");
  await admin.end();
  pool = new pg.Pool({ connectionString: urlOf("hlust"), max: 1 });
  pool.on("error", () => {}); // the server may end before its last connection
  parts.defer(() => pool.end());
  await pool.query("create extension pg_trgm; create extension btree_gin");
});
after(() => parts.disposeAsync());

/** Returns everything in the database except the rows. */
async function schema(): Promise<unknown[]> {
  const { rows } = await pool.query(
    "select relname, relkind from pg_class where relnamespace::regnamespace::text = 'public' order by 1",
  );
  return rows;
}

const run = async (args: string, role = "deploy") =>
  await runHlust(args.split(" "), { DATABASE_URL: urlOf(role), HLUST_DATA: "/nonexistent" });

test("other commands do not change the schema; they refuse an older one and name the command to run", async () => {
  const before = await schema();
  for (const args of ["fsck", "accounts list", "keys list", "console"]) {
    const { code, out, errors } = await run(args);
    assert.deepEqual([code === 0, out], [false, ""], args);
    assert.match(errors, /older than this version.*lacks 0001_first.*Run `hlust migrate`/, args);
  }
  const check = await run("migrate --check");
  assert.equal(check.code, 1, check.errors);
  assert.match(check.out, /^missing 0001_first\n(missing \d{4}_\w+\n)+$/);
  const dry = await run("migrate --dry-run");
  assert.equal(dry.code, 0, dry.errors);
  assert.match(
    dry.out,
    /^would apply 0001_first: locks no existing table; versions from 0\.1\.0 on can run on it\n/,
  );
  assert.match(
    dry.out,
    /0028_job_writing: locks transcript_job \(reads and writes wait\); versions/,
  );
  assert.match(dry.out, /0021_drafts: locks account \(writes wait\), api_key \(writes wait\), /);
  assert.equal(dry.out.match(/^would apply /gm)?.length, check.out.match(/^missing /gm)?.length);
  assert.deepEqual(await schema(), before);
});

test("a role that may not change the schema gets an error that names the command to run", async () => {
  const { code, errors } = await run("migrate", "app");
  assert.equal(code, 2);
  assert.match(
    errors,
    /the role app is not allowed to do it \(permission denied for schema public\)/,
  );
  assert.match(
    errors,
    /grant create on database archive to app; grant create on schema public to app/,
  );
});

test("migrate updates the schema once, and the service then runs with a role that may not change it", async () => {
  const { code, out, errors } = await run("migrate");
  assert.equal(code, 0, errors);
  assert.match(out, /^applied 0001_first\n(applied \d{4}_\w+\n)+$/);
  const made = await schema();
  for (const args of ["migrate", "migrate --check", "migrate --dry-run"]) {
    assert.deepEqual(await run(args), {
      code: 0,
      out: "The schema is up to date.\n",
      errors: "",
    });
  }
  const page = await readFile(resolve(import.meta.dirname, "../docs/database.md"), "utf8");
  await pool.query(/```sql\n(.*?)```/s.exec(page)?.[1] ?? assert.fail("no grants"));
  await using service = await openTestService({
    DATABASE_URL: urlOf("app"),
    HLUST_ENGINE: "scripted",
  });
  const { status, json } = await service.call("GET", "/readyz");
  assert.equal(status, 200, JSON.stringify(json));
  assert.equal((await service.call("GET", "/v1alpha1/transcripts")).status, 200);
  assert.deepEqual(await schema(), made);
});

test("a role that owns nothing migrates a database in which others have made the extensions", async () => {
  const page = await readFile(resolve(import.meta.dirname, "../docs/operations.md"), "utf8");
  const [, block = ""] = /```sql\n(create extension[^]*?)```/.exec(page) ?? [];
  await pool.query("create database guarded owner deploy");
  const asRole = async (role: string, ...statements: readonly string[]) => {
    const client = new pg.Client({ connectionString: urlOf(role, "guarded") });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  const hlust = async (args: string) => {
    const environment = { DATABASE_URL: urlOf("app", "guarded"), HLUST_DATA: "/nonexistent" };
    return await runHlust(args.split(" "), environment);
  };
  const before = await hlust("migrate");
  assert.deepEqual([before.code, before.out], [2, ""], before.errors);
  // PostgreSQL lets an owner make both extensions, since it trusts them.
  await asRole("hlust", "alter schema public owner to deploy");
  await asRole("deploy", block.replace("to hlust", "to app"));
  const { code, errors } = await hlust("migrate");
  assert.equal(code, 0, errors);
  await asRole("deploy", "revoke create on schema public from app");
  assert.equal((await hlust("migrate")).out, "The schema is up to date.\n");
  const listed = await hlust("accounts list");
  assert.equal(listed.code, 0, listed.errors);
});

test("a schema of a newer version is used if it allows this version, and refused with words if not", async () => {
  const add = `insert into kysely_migration values ($1, now()::text, $2)`;
  await pool.query(add, ["9998_expanded", packageVersion()]);
  assert.deepEqual(await run("migrate"), {
    code: 0,
    out: "The schema is up to date.\n",
    errors: "",
  });
  assert.equal((await run("accounts list")).code, 0);
  await pool.query(add, ["9999_contracted", "9.9.0"]);
  for (const args of ["migrate", "migrate --check", "migrate --dry-run", "accounts list", "fsck"]) {
    const { code, out, errors } = await run(args);
    assert.deepEqual([code === 0, out], [false, ""], args);
    assert.match(errors, /the database needs Hlust 9\.9\.0 or newer, and this is 0\.1\.0/, args);
    assert.match(
      errors,
      /its migration 9999_contracted\. Start 9\.9\.0 or a later version; /,
      args,
    );
  }
  await pool.query("delete from kysely_migration where name > '9997'");
});
