import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { until } from "../../test/fixtures/until.ts";
import { createLog } from "../std/log.ts";
import {
  killAll,
  newFolder,
  postmasterOf,
  processesIn,
  TestNode,
} from "../../test/fixtures/own-postgres-fixture.ts";
import { openOwnPostgres } from "./own-postgres.ts";

const log = createLog("silent");

describe("openOwnPostgres()", () => {
  it("keeps committed data when its process, the server, or both are killed", async () => {
    await using folder = await newFolder();
    const kept: number[] = [];
    const commit = async (node: TestNode) => {
      kept.push(kept.length);
      await node.query(`insert into kept values (${kept.length - 1})`);
    };
    const check = async (node: TestNode) => {
      const rows = await node.query("select n from kept order by n");
      assert.deepEqual(
        rows.map(({ n }) => n),
        kept,
      );
    };
    const first = await TestNode.open({ folder: folder.path });
    await first.query("create table kept (n int)");
    await commit(first);
    const server = await postmasterOf(folder.path);
    await first.kill();

    const second = await TestNode.open({ folder: folder.path });
    assert.equal(await postmasterOf(folder.path), server, "the server has outlived its process");
    await check(second);
    await commit(second);
    process.kill(server, "SIGKILL");
    // Another server is started automatically.
    await until(async () => (await postmasterOf(folder.path)) !== server);
    await until(async () => (await second.ask("select 1")).rows !== undefined);
    await check(second);
    await commit(second);
    await Promise.all([second.kill(), killAll(folder.path)]);

    await using third = await TestNode.open({ folder: folder.path });
    await check(third);
  });

  it("stops the server when the last of its processes closes it", async () => {
    await using folder = await newFolder();
    // Both processes open an empty folder concurrently: one cluster is created, and both use it.
    const [a, b] = await Promise.all([
      TestNode.open({ folder: folder.path }),
      TestNode.open({ folder: folder.path }),
    ]);
    await a.query("create table shared (n int)");
    await a.close();
    assert.deepEqual(await b.query("select count(*)::int as n from shared"), [{ n: 0 }]);
    await b.close();
    assert.equal(b.event("database.stopped")?.["level"], "info");
    assert.deepEqual(await processesIn(folder.path), []);
    assert.match(
      await readFile(join(folder.path, "server.log"), "utf8"),
      /database system is shut down/,
    );
  });

  it("leaves no server behind when it is closed during a restart of the server", async () => {
    await using folder = await newFolder();
    const node = await TestNode.open({ folder: folder.path });
    const server = await postmasterOf(folder.path);
    process.kill(server, "SIGKILL");
    await until(async () => (await postmasterOf(folder.path)) !== server);
    await node.close();
    await until(async () => (await processesIn(folder.path)).length === 0);
  });

  it("starts over if it was killed while it created its data", async () => {
    await using folder = await newFolder();
    const first = new TestNode({ folder: folder.path });
    await until(async () => (await readdir(join(folder.path, "18.new", "base"))).length > 0);
    await Promise.all([first.kill(), killAll(folder.path)]);
    assert.ok(!(await readdir(folder.path)).includes("18"), "it was killed before the end");

    // This time only initdb is killed: the same process starts it again.
    const second = new TestNode({ folder: folder.path });
    await until(async () => (await readdir(join(folder.path, "18.new", "base"))).length > 0);
    await killAll(join(folder.path, "18.new"));
    assert.deepEqual(await second.reply(), { ready: true });
    assert.deepEqual(await second.query("select 1 as one"), [{ one: 1 }]);
    assert.ok(!(await readdir(folder.path)).includes("18.new"));
    await second.close();
  });

  it("ignores lock files whose process number now belongs to another process", async () => {
    await using folder = await newFolder();
    const first = await TestNode.open({ folder: folder.path });
    await Promise.all([first.kill(), killAll(folder.path)]);
    for (const name of ["postmaster.pid", ".s.PGSQL.5432.lock"]) {
      const file = join(folder.path, "18", name);
      const lines = (await readFile(file, "utf8")).split("\n");
      await writeFile(file, [String(process.pid), ...lines.slice(1)].join("\n"));
    }
    await using second = await TestNode.open({ folder: folder.path });
    assert.deepEqual(await second.query("select 1 as one"), [{ one: 1 }]);
  });

  it("works in a folder whose path is too long for a socket", async () => {
    await using folder = await newFolder("long-".repeat(40));
    await using node = await TestNode.open({ folder: folder.path });
    assert.deepEqual(await node.query("select 1 as one"), [{ one: 1 }]);
  });

  it("listens only in its folder, and waits for the disk at every commit", async () => {
    await using folder = await newFolder();
    await using node = await TestNode.open({ folder: folder.path });
    const shown = await node.query(`
      select name, setting from pg_settings
       where name in ('listen_addresses', 'synchronous_commit', 'fsync', 'full_page_writes', 'data_checksums',
         'max_connections')
       order by name`);
    assert.deepEqual(
      shown.map(({ name, setting }) => [name, setting]),
      [
        ["data_checksums", "on"],
        ["fsync", "on"],
        ["full_page_writes", "on"],
        ["listen_addresses", ""],
        // docs/operations.md, PostgreSQL
        ["max_connections", "100"],
        ["synchronous_commit", "on"],
      ],
    );
    const facts = `select lower('ÞÁÆÖ') as lower, (select datlocprovider::text || ' ' || datlocale from pg_database
                   where datname = current_database()) as locale`;
    assert.deepEqual(await node.query(facts), [{ lower: "þáæö", locale: "b C.UTF-8" }]);
  });

  it("reports why its folder cannot be used", async () => {
    await using folder = await newFolder();
    await writeFile(folder.path, "");
    await assert.rejects(openOwnPostgres({ folder: folder.path, log }), /cannot be used: .*EEXIST/);
    await assert.rejects(
      openOwnPostgres({ folder: join(folder.path, "below"), log }),
      /cannot be used: .*ENOTDIR.*HLUST_DATA/,
    );
    await using newer = await newFolder();
    await mkdir(join(newer.path, "17"), { recursive: true });
    await assert.rejects(
      openOwnPostgres({ folder: newer.path, log }),
      /PostgreSQL 17.*brings 18.*`hlust backup` of the version .* `hlust restore` .* into another HLUST_DATA; keep \S+ until that one is proven/,
    );
    assert.deepEqual(await readdir(newer.path), ["17"], "the old data is left as it is");
    await using broken = await newFolder();
    await mkdir(join(broken.path, "18"), { recursive: true });
    await assert.rejects(
      openOwnPostgres({ folder: broken.path, log }),
      /exits as soon as it is started.*server\.log/,
    );
  });
});
