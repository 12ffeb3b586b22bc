// The units of systemd, and the files of the Debian package that belong to them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { readConfig } from "../../src/config.ts";
import { describeSettings } from "../../src/settings/describe-settings.ts";

const folder = resolve(import.meta.dirname, "../../deploy/systemd");
const units = ["hlust.service", "hlust-worker@.service"];
const isMissing = spawnSync("systemd-analyze", ["--version"]).status !== 0;

for (const unit of units) {
  test(
    `systemd rates the exposure of ${unit} at most 3.0`,
    { skip: isMissing && "systemd-analyze is not installed" },
    () => {
      const options = ["security", "--offline=true", "--threshold=30", "--no-pager"];
      const { status, stdout } = spawnSync("systemd-analyze", [...options, join(folder, unit)]);
      assert.equal(status, 0, stdout.toString());
      assert.match(stdout.toString(), /Overall exposure level/);
    },
  );
}

test("the socket has the default address of the service, whose connections wait in it", () => {
  const { host, port } = readConfig({});
  const lines = linesOf("hlust.socket");
  const backlog = lines.find((line) => line.startsWith("Backlog="));
  assert.deepEqual(
    lines.filter((line) => !/^(?:\[|Description=|Documentation=)/.test(line)),
    [`ListenStream=${host}:${port}`, "Backlog=4096", "WantedBy=sockets.target"],
  );
  // A process that listens sets the number for the time after it, too.
  const code = readFileSync(resolve(folder, "../../src/server/listen-at.ts"), "utf8");
  assert.equal(
    `Backlog=${/const waitingMax = ([\d_]+);/.exec(code)?.[1]?.replace("_", "")}`,
    backlog,
  );
});

/** Returns the lines of a unit, without comments. */
function linesOf(unit: string): string[] {
  return readFileSync(join(folder, unit), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

test("a worker may do what the other unit may do, with a folder of its own and the same media and models", () => {
  const [node = [], worker = []] = units.map(linesOf);
  const more = worker.filter((line) => !node.includes(line));
  const less = node.filter((line) => !worker.includes(line));
  const about =
    /^(?:After|BindPaths|Description|Environment|EnvironmentFile|ExecStart|StateDirectory|CacheDirectory)=/;
  for (const line of [...more, ...less]) assert.match(line, about);
  assert.ok(worker.includes("StateDirectory=hlust-worker-%i"));
  assert.ok(worker.includes("Environment=HLUST_DATA=%S/hlust-worker-%i"));
  assert.ok(worker.includes("BindPaths=-%S/hlust/media:%S/hlust-worker-%i/media"));
  assert.ok(worker.includes("Environment=HLUST_MODELS=%S/hlust/models"));
});

test("the environment file names only existing settings", () => {
  const known = describeSettings({});
  const text = readFileSync(join(folder, "environment"), "utf8");
  const named = text.match(/^#?[A-Z][A-Z0-9_]+(?==)/gm) ?? [];
  assert.ok(named.length > 2);
  for (const name of named) assert.ok(known.includes(`${name.replace("#", "")}\n`), name);
});
