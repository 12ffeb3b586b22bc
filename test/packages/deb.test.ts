// The Debian package, built by script/deb and installed on a bare Debian 12 with a real systemd.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { freePort } from "../fixtures/free-port.ts";
import { until } from "../fixtures/until.ts";
import { recognizeSample, sandboxOf } from "./ask-service.ts";
import { addLines, openDebianMachine, whyNoMachine } from "./debian-machine.ts";

const root = resolve(import.meta.dirname, "../..");
const skip = (await whyNoMachine()) ?? false;

/** Builds the package and returns its path. */
async function build(...options: string[]): Promise<string> {
  const script = join(root, "script/deb");
  const { stdout } = await promisify(execFile)(script, ["--fast", ...options], { cwd: root });
  return join(root, stdout.trim());
}

test(
  "the package installs on a bare Debian 12, starts, is upgraded with its data, and is purged",
  { skip, timeout: 3_600_000 },
  async (t) => {
    const [first, next] = [await build(), await build("--version", "99.0.0")];
    await using machine = await openDebianMachine();
    const file = machine.put(first);
    await machine.prepare(
      `apt-get update -q && apt-get install -y -q --no-install-recommends ${file}`,
    );
    const port = await freePort();
    addLines(machine, "etc/hlust/environment", `HLUST_PORT=${port}`);
    const address = `http://127.0.0.1:${port}`;
    const data = join(machine.root, "var/lib/hlust");
    await machine.boot();
    const isActive = async () =>
      (await machine.run("systemctl is-active hlust || true")).trim() === "active";
    await until(isActive, 300_000);
    // Engines are ready again after a while if other programs have slowed them.
    await until(async () => (await fetch(`${address}/readyz`)).status === 200, 60_000);
    assert.match(await sandboxOf(address), /^bubblewrap/);
    await recognizeSample(address, data);
    const exposure = await machine.run(
      "systemd-analyze security hlust.service --no-pager | tail -1",
    );
    const [, score = "10"] = /: ([\d.]+) /.exec(exposure) ?? [];
    t.diagnostic(`exposure ${score}`);
    assert.ok(Number(score) <= 3, exposure);
    assert.match(
      await machine.run("stat -c '%U %a' /var/lib/hlust /etc/hlust/environment"),
      /^hlust 700\nroot 640\n$/,
    );

    // A crash: systemd starts it again.
    await machine.run("systemctl kill --kill-whom=main --signal=KILL hlust");
    await until(
      async () => Number(await machine.run("systemctl show -P NRestarts hlust")) > 0,
      60_000,
    );
    await until(isActive, 300_000);

    const key = readFileSync(join(data, "api-key"), "utf8");
    await machine.run(`dpkg -i ${machine.put(next)}`);
    await until(isActive, 300_000);
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
    await until(isActive, 300_000);
    assert.equal(readFileSync(join(data, "api-key"), "utf8"), key);
    await machine.run("HLUST_PURGE_DATA=yes dpkg --purge hlust");
    assert.equal(existsSync(data), false);
    assert.equal(await machine.run("getent passwd hlust || true"), "");
    assert.equal(
      await machine.run(
        "find / -xdev -iname '*hlust*' -not -path '/root/*' -not -path '/proc/*' -not -path '/var/log/*' -not -path '/tmp/*' -not -path '/var/tmp/*'",
      ),
      "",
    );
  },
);
