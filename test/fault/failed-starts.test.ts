// A failed start ends the process with its reason, whatever has already been opened.
import assert from "node:assert/strict";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { on, once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import pg from "pg";
import { openDatabase } from "../../src/database/database.ts";
import { openOwnPostgres } from "../../src/database/own-postgres.ts";
import { createLog } from "../../src/std/log.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { until, within } from "../fixtures/until.ts";
import { postgresOf } from "./process.ts";

const hlust = resolve(import.meta.dirname, "../../bin/hlust");
const folder = mkdtempSync(join(tmpdir(), "hlust-failed-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Broken {
  /** The part that fails. */
  readonly what: string;
  /**
   * Breaks the part in a data folder that already has a database; returns the settings for the
   * start.
   */
  readonly breakIt: (data: string) => Promise<Record<string, string>> | Record<string, string>;
  readonly reason: RegExp;
  readonly code?: number;
}

const asFile = (path: string) => {
  writeFileSync(path, "");
  return {};
};

const table: readonly Broken[] = [
  {
    what: "a setting",
    breakIt: () => ({ HLUST_PORT: "x" }),
    reason: /HLUST_PORT must be a whole number from 0 to 65535, not "x"/,
    code: 2,
  },
  {
    what: "known names in its file of settings",
    breakIt(data) {
      const path = join(data, "hlust.yaml");
      writeFileSync(path, "service:\n  HLUST_HOST: 127.0.0.1\n  HLUST_PROT: 8080\n");
      return { HLUST_CONFIG: path };
    },
    reason: /\/hlust\.yaml:3:3: HLUST_PROT is not a setting: did you mean HLUST_PORT\?$/,
    code: 2,
  },
  {
    what: "a program as new as its database",
    async breakIt(data) {
      const options = { url: undefined, folder: join(data, "postgres"), durable: false };
      await using database = await openDatabase({ ...options, log: createLog("silent") });
      await database.pool.query(
        "insert into kysely_migration values ('9999_contracted', now()::text, '9.9.0')",
      );
      return {};
    },
    reason:
      /needs Hlust 9\.9\.0 or newer, and this is \S+: older versions cannot run on its migration 9999_contracted\. Start 9\.9\.0 or a later version; .* restore a backup/,
  },
  {
    what: "the rules of the paths",
    breakIt: (data) => ({ HLUST_HTTP_RULES: join(data, "none.yaml") }),
    reason: /HLUST_HTTP_RULES cannot be used/,
    code: 2,
  },
  {
    what: "the data folder",
    breakIt: (data) => ({ HLUST_DATA: asFileAt(join(data, "file")) }),
    reason: /HLUST_DATA=.* cannot be used: it is not a folder/,
  },
  {
    what: "the models folder",
    breakIt: (data) => ({ HLUST_ENGINE: "auto", HLUST_MODELS: asFileAt(join(data, "file")) }),
    reason: /ENOTDIR/,
  },
  {
    what: "the key file",
    breakIt: (data) => {
      mkdirSync(join(data, "api-key"));
      return {};
    },
    reason: /EISDIR|api-key/,
  },
  {
    what: "the media folder",
    breakIt: (data) => asFile(join(data, "media")),
    reason: /EEXIST|ENOTDIR/,
  },
  {
    what: "the scratch folder",
    breakIt: (data) => asFile(join(data, "scratch")),
    reason: /EEXIST|ENOTDIR/,
  },
  {
    what: "the port",
    breakIt: async () => {
      const taken = createServer().listen(0, "127.0.0.1").unref();
      await once(taken, "listening");
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the listener has a port
      return { HLUST_PORT: `${(taken.address() as AddressInfo).port}` };
    },
    reason: /is taken by another program/,
  },
];

function asFileAt(path: string): string {
  writeFileSync(path, "");
  return path;
}

/** Runs `hlust serve` in a process group of its own until it ends by itself. */
const start = (data: string, settings: Readonly<Record<string, string>>) =>
  launch(data, settings).ended;

/** Starts `hlust serve`, so that the test can send it signals. */
function launch(data: string, settings: Readonly<Record<string, string>>) {
  const child = spawn(hlust, ["serve"], {
    cwd: "/",
    detached: true,
    env: {
      PATH: process.env["PATH"],
      HLUST_PORT: "0",
      HLUST_DATA: data,
      HLUST_ENGINE: "scripted",
      HLUST_ENGINE_PROCESSES: "1",
      HLUST_FRONT_PROCESSES: "1",
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const group = -(child.pid ?? assert.fail("not started"));
  return { child, ended: endOf(child, group) };
}

async function endOf(child: ChildProcessByStdio<null, Readable, Readable>, group: number) {
  const exited = once(child, "exit");
  try {
    const [out, errors] = await within(
      "its end",
      Promise.all([text(child.stdout), text(child.stderr)]),
    );
    const [code] = await exited;
    return { code, out, errors, group };
  } finally {
    if (child.exitCode === null) process.kill(group, "SIGKILL");
  }
}

function isThere(group: number): boolean {
  try {
    return process.kill(group, 0);
  } catch {
    return false;
  }
}

for (const { what, breakIt, reason, code: expected = 1 } of table) {
  test(`a start without ${what} ends with the reason and leaves no process`, async () => {
    const data = join(folder, what.replaceAll(" ", "-"));
    await seedPostgres(join(data, "postgres"));
    const settings = await breakIt(data);
    const { code, out, errors, group } = await start(data, settings);
    assert.equal(code, expected, errors);
    assert.equal(out.includes("ready at"), false);
    const reported = errors.split("\n").filter((line) => line.startsWith("hlust: "));
    assert.equal(reported.length, 1, errors);
    assert.match(reported[0] ?? "", reason);
    assert.deepEqual(postgresOf(data), []);
    await until(async () => !isThere(group));
  });
}

test("a start that fails in one part does not wait for the other parts", async () => {
  const data = join(folder, "two");
  mkdirSync(data);
  const settings = {
    // No server exists at this address: a start waits for one for half a minute.
    DATABASE_URL: "postgres://hlust@127.0.0.1:1/hlust",
    HLUST_ENGINE: "auto",
    HLUST_MODELS: asFileAt(join(data, "file")),
  };
  const began = performance.now();
  const { code, errors } = await start(data, settings);
  assert.equal(code, 1);
  assert.match(errors, /^hlust: ENOTDIR/m);
  assert.ok(performance.now() - began < 20_000);
});

test("a start that is waiting for another node's migration ends on SIGTERM", async () => {
  const data = join(folder, "stopped");
  await using server = await openOwnPostgres({
    folder: join(folder, "other"),
    log: createLog("silent"),
  });
  const other = new pg.Client(server.connection);
  await other.connect();
  await other.query("select pg_advisory_lock(4750412)");
  const { child, ended } = launch(data, {
    DATABASE_URL: `postgres://hlust@/postgres?host=${encodeURIComponent(join(folder, "other", "18"))}`,
    HLUST_LOG: "info",
  });
  const reported = AbortSignal.timeout(60_000);
  for await (const [chunk] of on(child.stderr, "data", { signal: reported })) {
    if (String(chunk).includes("database.migration_waiting")) break;
  }
  child.kill("SIGTERM");
  const { code } = await ended;
  await other.end();
  assert.equal(code, 0);
});
