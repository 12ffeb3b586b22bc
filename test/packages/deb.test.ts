// The Debian package, built by script/deb and installed on a bare Debian 12 with a real systemd.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { freePort } from "../fixtures/free-port.ts";
import { until } from "../fixtures/until.ts";
import { recognizeSample, sandboxOf } from "./ask-service.ts";
import { addLines, openDebianMachine, whyNoMachine, type DebianMachine } from "./debian-machine.ts";
import { jobOf, submitSample } from "./sample-jobs.ts";

const root = resolve(import.meta.dirname, "../..");
const skip = (await whyNoMachine()) ?? false;

/** Builds the package and returns its path. */
async function build(...options: string[]): Promise<string> {
  const script = join(root, "script/deb");
  const { stdout } = await promisify(execFile)(script, ["--fast", ...options], { cwd: root });
  return join(root, stdout.trim());
}

describe("the Debian package", { skip, timeout: 3_600_000 }, () => {
  let machine: DebianMachine;
  /** The paths of the package in the machine, and of the same with a later version. */
  let file: string;
  let nextFile: string;
  let port: number;
  let address: string;
  let data: string;

  before(async () => {
    const [first, next] = [await build(), await build("--version", "99.0.0")];
    machine = await openDebianMachine();
    [file, nextFile] = [machine.put(first), machine.put(next)];
    await machine.prepare(
      `apt-get update -q && apt-get install -y -q --no-install-recommends ${file}`,
    );
    port = await freePort();
    address = `http://127.0.0.1:${port}`;
    data = join(machine.root, "var/lib/hlust");
    addLines(machine, "etc/hlust/environment", `HLUST_PORT=${port}`);
    await machine.boot();
  });
  after(async () => await machine?.[Symbol.asyncDispose]());

  const show = async (unit: string, property: string): Promise<string> =>
    (await machine.run(`systemctl show --property=${property} --value ${unit}`)).trim();

  async function isActive(unit: string): Promise<void> {
    const ends = async () => (await show(unit, "ActiveState")) === "active";
    await until(ends, 300_000).catch(async (error: unknown) => {
      const log = await machine.run(`journalctl --unit ${unit} --lines 20 --output cat`);
      assert.fail(`${String(error)}\n${log}`);
    });
  }

  async function isRestarted(unit: string): Promise<void> {
    await until(async () => Number(await show(unit, "NRestarts")) > 0, 60_000);
  }

  async function exposureOf(unit: string): Promise<number> {
    const last = await machine.run(`systemd-analyze security ${unit} --no-pager | tail -1`);
    const [, score] = /exposure level for \S+: ([\d.]+) /.exec(last) ?? [];
    assert.ok(score !== undefined, last);
    return Number(score);
  }

  async function nothingIsLeft(): Promise<void> {
    assert.equal(await machine.run("getent passwd hlust || true"), "");
    const others = ["root", "proc", "var/log", "tmp", "var/tmp"];
    const outside = others.map((folder) => `-not -path '/${folder}/*'`).join(" ");
    assert.equal(await machine.run(`find / -xdev -iname '*hlust*' ${outside}`), "");
  }

  test("it starts on a bare Debian 12, is upgraded with its data, and is purged", async (t) => {
    await isActive("hlust");
    // Engines are ready again after a while if other programs have slowed them.
    await until(async () => (await fetch(`${address}/readyz`)).status === 200, 60_000);
    assert.match(await sandboxOf(address), /^bubblewrap/);
    await recognizeSample(address, data);
    const exposure = await exposureOf("hlust.service");
    t.diagnostic(`exposure ${exposure}`);
    assert.ok(exposure <= 3, `${exposure}`);
    assert.match(
      await machine.run("stat -c '%U %a' /var/lib/hlust /etc/hlust/environment"),
      /^hlust 700\nroot 640\n$/,
    );

    // A crash: systemd starts it again.
    await machine.run("systemctl kill --kill-whom=main --signal=KILL hlust");
    await isRestarted("hlust");
    await isActive("hlust");

    const key = readFileSync(join(data, "api-key"), "utf8");
    await machine.run(`dpkg -i ${nextFile}`);
    await isActive("hlust");
    assert.match(await machine.run("hlust version"), /^hlust /);
    assert.equal((await machine.run("dpkg-query -W -f '${Version}' hlust")).trim(), "99.0.0");
    assert.equal(readFileSync(join(data, "api-key"), "utf8"), key);
    await recognizeSample(address, data);
    const settings = readFileSync(join(machine.root, "etc/hlust/environment"), "utf8");
    assert.ok(settings.endsWith(`HLUST_PORT=${port}\n`), "an upgrade keeps the settings");

    await machine.run("apt-get remove -y -q hlust");
    await assert.rejects(fetch(`${address}/healthz`));
    assert.equal(existsSync(join(machine.root, "usr/lib/hlust")), false);
    assert.ok(existsSync(join(machine.root, "etc/hlust/environment")));
    assert.match(await machine.run("apt-get purge -y -q hlust"), /\/var\/lib\/hlust is kept/);
    assert.equal(existsSync(join(machine.root, "etc/hlust")), false);
    assert.equal(readFileSync(join(data, "api-key"), "utf8"), key);
    await machine.run(`dpkg -i ${file}`);
    await isActive("hlust");
    assert.equal(readFileSync(join(data, "api-key"), "utf8"), key);
    await machine.run("HLUST_PURGE_DATA=yes dpkg --purge hlust");
    assert.equal(existsSync(data), false);
    await nothingIsLeft();
  });

  test("a worker on the same machine runs its jobs, survives a kill and an upgrade, and stops", async (t) => {
    // What docs/install.md says: a database of its own, and a service that only answers calls.
    await machine.run("apt-get install -y -q --no-install-recommends postgresql");
    const [databasePort] =
      /\d+/.exec(await machine.run("pg_lsclusters --no-header | cut -d' ' -f3")) ?? [];
    const make = `create role hlust login password 'secret';
      create database hlust owner hlust template template0 encoding 'UTF8'
      locale_provider icu icu_locale 'und' locale 'C.UTF-8';`;
    writeFileSync(join(machine.root, "root/database.sql"), make);
    await until(async () => {
      await machine.run("runuser -u postgres -- psql -q -v ON_ERROR_STOP=1 </root/database.sql");
      return true;
    });
    mkdirSync(join(machine.root, "etc/hlust"));
    const database = `DATABASE_URL=postgres://hlust:secret@127.0.0.1:${databasePort}/hlust`;
    const workerPort = await freePort();
    addLines(machine, "etc/hlust/environment", `HLUST_PORT=${port}\nHLUST_ROLE=api\n${database}`);
    addLines(machine, "etc/hlust/worker-1", `WORKER_PORT=${workerPort}`);
    await machine.run(`dpkg -i --force-confold ${file}`);
    await isActive("hlust");
    const worker = "hlust-worker@1";

    const succeeds = async (job: string, msMax: number): Promise<void> =>
      await until(async () => (await jobOf(address, data, job)).state === "SUCCESS", msMax);

    const waiting = await submitSample(address, data);
    await machine.run(`systemctl enable --quiet --now ${worker}`);
    await isActive(worker);
    await succeeds(waiting, 120_000);
    const ready = `http://127.0.0.1:${workerPort}/readyz?for=jobs`;
    await until(async () => (await fetch(ready)).status === 200, 120_000);
    const exposure = await exposureOf(`${worker}.service`);
    t.diagnostic(`exposure ${exposure}`);
    assert.ok(exposure <= 3, `${exposure}`);

    const long = await submitSample(address, data, { times: 100 });
    const progressOf = async (job: string) =>
      (await jobOf(address, data, job)).progressPercent ?? 0;
    await until(async () => (await progressOf(long)) > 0, 120_000);
    await machine.run(`systemctl kill --kill-whom=main --signal=KILL ${worker}`);
    assert.equal((await jobOf(address, data, long)).state, "PROCESSING");
    await isRestarted(worker);
    await isActive(worker);
    await succeeds(long, 300_000);

    const before = await show(worker, "ActiveEnterTimestampMonotonic");
    await machine.run(`dpkg -i ${nextFile}`);
    await until(
      async () => (await show(worker, "ActiveEnterTimestampMonotonic")) !== before,
      60_000,
    );
    await isActive(worker);
    const last = await submitSample(address, data);
    await succeeds(last, 120_000);

    await machine.run(`systemctl stop ${worker}`);
    assert.equal(await show(worker, "ActiveState"), "inactive");
    assert.equal(await show(worker, "Result"), "success");
    assert.equal(await show(worker, "ExecMainStatus"), "0");
    await assert.rejects(fetch(`http://127.0.0.1:${workerPort}/healthz`));
    await machine.run(`systemctl start ${worker}`);
    await machine.run("HLUST_PURGE_DATA=yes dpkg --purge hlust");
    assert.equal(await show(worker, "ActiveState"), "inactive");
    await nothingIsLeft();
  });

  test("with hlust.socket, no connection is refused while the service restarts and is upgraded", async (t) => {
    mkdirSync(join(machine.root, "etc/hlust"), { recursive: true });
    addLines(machine, "etc/hlust/environment", `HLUST_PORT=${port}`);
    await machine.run(`dpkg -i --force-confold ${file}`);
    await isActive("hlust");
    assert.equal(await machine.run("systemctl is-enabled hlust.socket || true"), "disabled\n");
    // What docs/operations.md says.
    const dropIn = join(machine.root, "etc/systemd/system/hlust.socket.d");
    mkdirSync(dropIn);
    const listen = `[Socket]\nListenStream=\nListenStream=127.0.0.1:${port}\n`;
    writeFileSync(join(dropIn, "override.conf"), listen);
    await machine.run(
      "systemctl daemon-reload; systemctl stop hlust; systemctl enable --now hlust.socket; systemctl start hlust",
    );
    await isActive("hlust");

    const calls: Promise<string>[] = [];
    const call = async () => {
      const headers = { connection: "close" };
      return `${(await fetch(`${address}/healthz`, { headers })).status}`;
    };
    const timer = setInterval(() => calls.push(call().catch(String)), 10);
    try {
      await machine.run("systemctl restart hlust");
      await isActive("hlust");
      await machine.run(`dpkg -i ${nextFile}`);
      await isActive("hlust");
    } finally {
      clearInterval(timer);
    }
    assert.equal((await machine.run("dpkg-query -W -f '${Version}' hlust")).trim(), "99.0.0");
    const answers = await Promise.all(calls);
    t.diagnostic(`${answers.length} calls`);
    assert.ok(answers.length > 100, `${answers.length}`);
    assert.deepEqual([...new Set(answers)], ["200"]);

    // A crash: the first connection starts it again, if systemd has not.
    await machine.run("systemctl kill --kill-whom=main --signal=KILL hlust");
    assert.equal(await call(), "200");
    await machine.run("dpkg --remove hlust");
    await assert.rejects(fetch(`${address}/healthz`));
    await machine.run(
      "HLUST_PURGE_DATA=yes dpkg --purge hlust; rm -r /etc/systemd/system/hlust.socket.d",
    );
    await nothingIsLeft();
  });
});
