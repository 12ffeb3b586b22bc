import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, lstat, readlink, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { until } from "../../test/fixtures/until.ts";
import {
  newFolder,
  newProject,
  postmasterOf,
  TestNode,
} from "../../test/fixtures/own-postgres-fixture.ts";
import { runProgram } from "./run-program.ts";

const isRoot = process.geteuid?.() === 0;
const canMakeNamespaces = (await runProgram(["unshare", "--user", "--mount", "true"])).status === 0;
const needsRoot = !isRoot
  ? "the test is not root: it cannot become other users"
  : !canMakeNamespaces && "the test runs where root cannot make namespaces";
/**
 * The prefix that runs a command as an ordinary user with a name, while the files still belong to
 * root.
 */
const asOrdinary = isRoot ? ["unshare", "--user", "--map-user=1", "--map-group=1"] : [];
const needsOrdinary = isRoot && needsRoot;

/**
 * Creates a container without user namespaces in which root can become any user, the kernel refuses
 * new namespaces, and /var/lib is writable.
 */
async function newContainer(): Promise<AsyncDisposable & { as: string[] }> {
  const steps = "mount -t tmpfs -o mode=755 none /var/lib && exec unshare --user sleep infinity";
  const holder = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-c", steps]);
  const pid = holder.pid ?? assert.fail("no unshare");
  const ours = await readlink("/proc/self/ns/user");
  await until(async () => (await readlink(`/proc/${pid}/ns/user`)) !== ours);
  await writeFile(`/proc/${pid}/uid_map`, "0 0 65536");
  await writeFile(`/proc/${pid}/gid_map`, "0 0 65536");
  const as = ["nsenter", "--user", "--mount", "--target", String(pid)];
  const refuse = "echo 0 > /proc/sys/user/max_user_namespaces";
  assert.deepEqual(await runProgram([...as, "sh", "-c", refuse]), { status: 0, output: "" });
  const { output } = await runProgram([...as, "unshare", "--user", "true"]);
  assert.match(output, /unshare/, "the kernel does refuse");
  return {
    as,
    [Symbol.asyncDispose]: async () => {
      holder.kill("SIGKILL");
    },
  };
}

async function serverUser(folder: string): Promise<number> {
  return (await stat(`/proc/${await postmasterOf(folder)}`)).uid;
}

describe("the user and the programs of openOwnPostgres()", () => {
  it(
    "the server runs as the current user when that user is an ordinary one",
    { skip: needsOrdinary },
    async () => {
      await using folder = await newFolder();
      await using node = await TestNode.open({ folder: folder.path, as: asOrdinary });
      assert.equal(node.event("database.own_server")?.["runsAs"], "this user");
      assert.equal(await serverUser(folder.path), process.geteuid?.());
    },
  );

  it("the server runs in a user namespace when the user is root", { skip: needsRoot }, async () => {
    await using folder = await newFolder();
    await using node = await TestNode.open({ folder: folder.path });
    assert.equal(node.event("database.own_server")?.["runsAs"], "user namespace");
    assert.equal((await stat(join(folder.path, "18"))).uid, 0, "its files are root's");
    assert.notEqual(
      await readlink(`/proc/${await postmasterOf(folder.path)}/ns/user`),
      await readlink("/proc/self/ns/user"),
    );
  });

  it(
    "the server runs in a user namespace when the user has no name",
    { skip: needsRoot },
    async () => {
      await using folder = await newFolder();
      const as = ["unshare", "--user", "--map-user=54321", "--map-group=54321"];
      await using node = await TestNode.open({ folder: folder.path, as });
      assert.equal(node.event("database.own_server")?.["runsAs"], "user namespace");
      assert.deepEqual(await node.query("select 1 as one"), [{ one: 1 }]);
    },
  );

  it(
    "the server runs as an unprivileged user when root cannot create a user namespace, in folders closed to that user",
    { skip: needsRoot },
    async () => {
      await using folder = await newFolder(); // in a folder of mode 0700, as the project is
      await using project = await newProject();
      await using container = await newContainer();
      const options = { folder: folder.path, project: project.path, as: container.as };
      const first = await TestNode.open(options);
      const facts = first.event("database.own_server");
      assert.equal(facts?.["runsAs"], "unprivileged user");
      assert.match(String(facts?.["programs"]), /^\/var\/lib\/hlust\/postgresql-18\./);
      assert.equal(await serverUser(folder.path), 65534);
      assert.equal((await stat(folder.path)).uid, 0);
      await first.query("create table kept as select 7 as n");
      await first.kill();

      const second = await TestNode.open(options);
      assert.equal(second.event("database.own_server"), undefined, "it found the server running");
      const server = await postmasterOf(folder.path);
      process.kill(server, "SIGKILL");
      await until(async () => (await postmasterOf(folder.path)) !== server);
      await until(async () => (await second.ask("select 1")).rows !== undefined);
      assert.deepEqual(await second.query("select n from kept"), [{ n: 7 }]);
      await second.close();

      // The same folder is later used with user namespaces, and then without them again.
      for (const as of [[], container.as]) {
        await using node = await TestNode.open({ ...options, as });
        const how = as === container.as ? "unprivileged user" : "user namespace";
        assert.equal(node.event("database.own_server")?.["runsAs"], how);
        assert.deepEqual(await node.query("select n from kept"), [{ n: 7 }]);
      }
      assert.equal((await stat(join(folder.path, "18", "PG_VERSION"))).uid, 65534);
    },
  );

  it("the links that the npm package lacks are created once", async () => {
    await using folder = await newFolder();
    await using project = await newProject();
    await using node = await TestNode.open({ folder: folder.path, project: project.path });
    assert.equal(
      node.event("database.own_server")?.["programs"],
      join(project.package, "native", "bin"),
    );
    assert.ok(
      (await lstat(join(project.package, "native", "lib", "libicuuc.so.60"))).isSymbolicLink(),
    );
  });

  it(
    "the server runs from a copy when the npm package is read-only",
    { skip: needsOrdinary },
    async () => {
      await using folder = await newFolder();
      await using project = await newProject();
      const libraries = join(project.package, "native", "lib");
      await chmod(libraries, 0o555);
      const options = { folder: folder.path, project: project.path, as: asOrdinary };
      {
        await using node = await TestNode.open(options);
        const programs = String(node.event("database.own_server")?.["programs"]);
        assert.ok(programs.startsWith(join(folder.path, "postgresql-18.")), programs);
      }
      await using again = await TestNode.open(options);
      assert.deepEqual(await again.query("select 1 as one"), [{ one: 1 }]);
      await chmod(libraries, 0o755);
    },
  );

  it("an error states what to do if there is no server for the machine", async () => {
    await using folder = await newFolder();
    const change = `Object.defineProperty(process, "arch", { value: "ppc64" })`;
    const other = new TestNode({ folder: folder.path, change });
    assert.match(
      (await other.reply()).error ?? "",
      /no PostgreSQL of its own for linux ppc64: set DATABASE_URL/,
    );
    await other.close();
    await using project = await newProject();
    await runProgram(["rm", "-rf", project.package]);
    const without = new TestNode({ folder: folder.path, project: project.path });
    assert.match((await without.reply()).error ?? "", /is not installed: run npm ci/);
    await without.close();
  });

  it("the server does not run on data of another user", { skip: needsRoot }, async () => {
    await using folder = await newFolder();
    await runProgram(["sh", "-c", `mkdir -p "$0/18" && chown 2:2 "$0/18"`, folder.path]);
    const node = new TestNode({ folder: folder.path, as: asOrdinary });
    assert.match((await node.reply()).error ?? "", /belongs to user .* runs as user 1/);
    await node.close();
  });
});
