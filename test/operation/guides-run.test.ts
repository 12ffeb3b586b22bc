// The commands of the guides for operators work, in order: they are taken out of the documents and
// run against a service with PostgreSQL 15 as described there. What cannot run here is listed.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { freePort } from "../fixtures/free-port.ts";
import { guideBlocks, runbookCommands, type GuideBlock } from "../fixtures/guide-blocks.ts";
import { GuideMachine } from "../fixtures/guide-machine.ts";
import { openDebianPostgres } from "../fixtures/open-debian-postgres.ts";
import { openTestAuthority } from "../fixtures/test-authority.ts";
import { until } from "../fixtures/until.ts";

const operations = "docs/operations.md";
const backups = "docs/operations/backup.md";

/** The blocks that run here, by page and first words. */
const run = {
  mediaFolder: [operations, "mkdir -p /var/lib/hlust"],
  settings: [operations, "# /etc/hlust/hlust.yaml"],
  reload: [operations, "bin/hlust config --check"],
  tls: [operations, "HLUST_TLS_CERTIFICATE="],
  metrics: [operations, "(umask 077 && openssl rand -hex 32 >/etc"],
  operators: [operations, "bin/hlust accounts set-operator"],
  accounts: ["README.md", 'bin/hlust accounts add "Newsroom"'],
  nightly: [backups, "hlust backup /srv/backups --keep 14"],
  backup: [operations, "bin/hlust backup /srv/backups --keep 14"],
  quarantine: [operations, "bin/hlust serve --quarantine"],
  move: [backups, "systemctl stop hlust"],
  upgrade: [operations, "bin/hlust backup /srv/backups\n"],
  restart: [operations, "systemctl restart hlust"],
  engineNodes: ["docs/cluster.md", "# Once, as root"],
  plan: ["docs/cluster.md", "bin/hlust plan"],
  role: [operations, "create role hlust"],
  extensions: [operations, "create extension"],
  grants: ["docs/database.md", "grant usage"],
} as const;
type Place = (typeof run)[keyof typeof run];

/** The blocks that do not run here, by page and first words, with the reason. */
const notRun: readonly [page: string, begin: string, reason: string][] = [
  ["README.md", "script/server", "sets up the machine; test/setup.test.ts checks what it does"],
  [
    "README.md",
    "bin/hlust models available",
    "downloads models; test/cli-models.test.ts pulls one",
  ],
  ...[
    "KEY=$(cat",
    "jq -n",
    "cat > /tmp/stream.mjs",
    "call() {",
    "until call",
    "call $HLUST/v1alpha1/transcripts -d",
    "URL=$(call",
    'call "$HLUST/v1alpha1/$TRANSCRIPT:export',
    "cat > /tmp/client.ts",
    "HLUST_TOKEN=$KEY bin/hlust bench",
  ].map((begin): [string, string, string] => ["README.md", begin, "runs in test/readme.test.ts"]),
  [
    "docs/install.md",
    "sudo apt-get install qemu-user-static",
    "builds an image under qemu; test/packages/image-architectures.ts does it",
  ],
  ["docs/install.md", "script/image  ", "builds an image; test/packages runs it"],
  [
    "docs/install.md",
    "script/image --engine docker",
    "needs the images of others; test/packages/cluster.test.ts makes deploy/.env",
  ],
  ["docs/install.md", "install -d -o 10001", "needs a container; test/operation makes backups"],
  ["docs/install.md", "script/deb", "builds a package; test/packages installs it"],
  [operations, "HLUST_SMTP_URL_FILE=", "needs a mail server; src/mail/mail-worker.test.ts has one"],
  [operations, "scrape_configs:", "a part of deploy/prometheus, which promtool checks"],
  [backups, "hlust backup s3:", "needs a bucket; test/operation/backup-bucket.test.ts makes such"],
  [operations, "systemctl edit hlust.socket", "needs systemd; test/packages/deb.test.ts does it"],
  [operations, "# /etc/systemd/system/hlust.socket.d", "needs systemd"],
  [backups, "# /etc/systemd/system/hlust-backup.service", "needs systemd"],
  [backups, "# /etc/systemd/system/hlust-backup.timer", "needs systemd"],
  ...[
    'mkdir --mode 700 --parents "$WAL"',
    'mkdir --mode 700 --parents "$BASE"',
    'mkdir --mode 700 --parents "$NEW_DATA',
  ].map((begin): [string, string, string] => [backups, begin, "runs in backup-wal.test.ts"]),
];

/** The commands of runbooks that do not run here. */
const runbookNotRun = new Map([
  ["dmesg | grep -i oom", "reads the log of the kernel, which a container may not"],
  ["systemctl restart hlust", "runs in the block of docs/operations.md"],
  ["bin/hlust models remove", "needs an installed model; test/cli-models.test.ts removes one"],
  ["hlust evaluate", "needs recordings; test/cli-evaluate.test.ts has some"],
]);

const isLong = process.env["GUIDES"] === "all";
const skip = isLong ? false : "it takes 25 s of CPU time: GUIDES=all (npm run test:long)";

const blocks = guideBlocks();
const used = new Set<Place>();

const isAt = (block: GuideBlock, page: string, begin: string) =>
  block.page === page && block.text.startsWith(begin);

/** Returns the text of a block, and notes that it is run. */
function blockOf(place: Place): string {
  const [page, begin] = place;
  const block = blocks.find((each) => isAt(each, page, begin));
  assert.ok(block, place.join(": "));
  used.add(place);
  return block.text;
}

test("each block of the guides is run here or elsewhere, or cannot run for a stated reason", () => {
  const places = [...Object.values(run), ...notRun];
  for (const block of blocks) {
    const found = places.filter(([page, begin]) => isAt(block, page, begin));
    assert.equal(found.length, 1, `${block.page}: ${block.text}`);
  }
  for (const [page, begin] of places) {
    const found = blocks.filter((block) => isAt(block, page, begin));
    assert.equal(found.length, 1, `${page} has ${found.length} blocks that begin with ${begin}`);
  }
  const commands = new Set(runbookCommands().map(({ command }) => command));
  for (const command of runbookNotRun.keys()) assert.ok(commands.has(command), command);
});

const opened = new AsyncDisposableStack();
let folder: string;
let machine: GuideMachine;
let port: number;
let adminUrl: string;
/** Where a backup is restored to: another folder and another database. */
let restored: Readonly<Record<string, string>>;

before(async () => {
  if (!isLong) return;
  folder = mkdtempSync(join(tmpdir(), "hlust-guides-run-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  for (const path of ["etc/hlust", "srv/backups", "run/secrets", "var/lib", "mnt/hlust-media"]) {
    mkdirSync(join(folder, path), { recursive: true });
  }
  const postgres = opened.use(await openDebianPostgres());
  adminUrl = postgres.urlOf("admin", "postgres");
  port = await freePort();
  restored = {
    HLUST_DATA: join(folder, "restored"),
    DATABASE_URL: postgres.urlOf("hlust", "restored"),
  };
  writeFileSync(join(folder, "run/secrets/database-url"), `${postgres.urlOf("hlust", "hlust")}\n`);
  machine = opened.use(
    new GuideMachine(folder, {
      HLUST_CONFIG: join(folder, "etc/hlust/hlust.yaml"),
      HLUST_DATA: join(folder, "var/lib/hlust"),
      HLUST_PORT: `${port}`,
      HLUST_ENGINE: "scripted",
      HLUST_ENGINE_PROCESSES: "1",
    }),
  );
});
after(() => opened.disposeAsync());

/** Runs statements as the administrator of the server, one after the other. */
async function runAsAdmin(...statements: readonly string[]): Promise<void> {
  const options = statements.map((statement) => `--command="${statement}"`).join(" ");
  await machine.run(`psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 ${options} '${adminUrl}'`);
}

/** Runs a block as SQL of the administrator in a database. */
async function runSql(place: Place, database: string): Promise<void> {
  const file = join(folder, "block.sql");
  writeFileSync(file, blockOf(place));
  const url = adminUrl.replace("/postgres?", `/${database}?`);
  await machine.run(`psql --no-psqlrc --set=ON_ERROR_STOP=1 --file='${file}' '${url}'`);
}

const createRestored = "create database restored owner hlust template template0";

test(
  "the database, the folder of media and the settings are prepared as described",
  { skip },
  async () => {
    await runSql(run.role, "postgres");
    await runSql(run.extensions, "hlust");
    await runAsAdmin("create role app", "create role deploy", createRestored);
    await runSql(run.grants, "hlust");
    await machine.run(blockOf(run.mediaFolder));
    // The file names a file of a secret. Tests listen on loopback.
    const settings = blockOf(run.settings).replace("0.0.0.0", "127.0.0.1");
    writeFileSync(join(folder, "etc/hlust/hlust.yaml"), machine.placed(settings));
    await machine.run("systemctl start hlust");
    const shown = await machine.run("bin/hlust config");
    assert.match(shown, /DATABASE_URL\n.*\n +\(set\) +\(from \S+database-url\)/);
  },
);

test("settings are checked and changed while the service runs", { skip }, async () => {
  await machine.run(blockOf(run.reload));
  await until(async () => machine.output.includes('"event":"settings.reloaded"'));
});

/** Returns the id of the only account. */
async function accountId(): Promise<string> {
  const { accounts } = JSON.parse(await machine.run("hlust accounts list --json"));
  return String(accounts[0].name).replace("accounts/", "");
}

test(
  "metrics and certificates are set up as described, and runbooks find them",
  { skip },
  async () => {
    const issued = await (await openTestAuthority(join(folder, "authority"))).issue("hlust");
    const live = join(folder, "etc/letsencrypt/live/hlust.example.org");
    mkdirSync(live, { recursive: true });
    copyFileSync(issued.certificate, join(live, "fullchain.pem"));
    copyFileSync(issued.key, join(live, "privkey.pem"));
    const tls = blockOf(run.tls).trim().replaceAll("\n", " ");
    assert.match(
      await machine.run(`${tls} bin/hlust config --check`),
      /the certificate expires at/,
    );

    const id = await accountId();
    const [metricsPort, tlsPort] = [await freePort(), await freePort()];
    const metrics = blockOf(run.metrics).replace("bin/hlust serve", `${tls} bin/hlust serve`);
    const scrape = `curl --fail --silent --oauth2-bearer "$(cat /etc/hlust/metrics-token)" http://10.0.0.5:9464/metrics`;
    const commands = runbookCommands()
      .map(({ command }) => command)
      .filter((command) => !runbookNotRun.has(command));
    assert.ok(commands.length > 5);
    const block = `${metrics}${scrape}\n${commands.join("\n")}`
      .replaceAll("NODE:9464", "10.0.0.5:9464")
      .replaceAll("10.0.0.5:9464", `127.0.0.1:${metricsPort}`)
      .replace("HOST:PORT -servername HOST", `127.0.0.1:${tlsPort} -servername localhost`)
      .replace("HLUST_DATA/", "$HLUST_DATA/")
      .replace("limits ID --stored-bytes N", `limits ${id} --stored-bytes 1000000000`)
      .replace("limits ID", `limits ${id}`);
    const settings = {
      HLUST_PORT: `${tlsPort}`,
      DATABASE_URL: adminUrl.replace("/postgres?", "/hlust?"),
    };
    const out = await machine.run(block, settings);
    assert.match(out, /^hlust_ready 1$/m);
    assert.match(out, /"status":\s*"ready"/);
    assert.match(out, /^notAfter=/m);
    // A group of commands without one of them shows its help.
    assert.doesNotMatch(out, /^Usage: /m);
  },
);

test("accounts, operators and keys are set up as described", { skip }, async () => {
  const id = await accountId();
  await machine.run(`hlust accounts add-member ${id} --email anna@example.is --role OWNER`);
  const operators = blockOf(run.operators);
  await machine.run(operators.replaceAll(" ID ", ` ${id} `));
  const readme = blockOf(run.accounts);
  const [revoke = ""] = /^bin\/hlust keys revoke .*$/m.exec(readme) ?? [];
  await machine.run(readme.replace(revoke, "").replaceAll(" ID ", ` ${id} `));
  const { keys } = JSON.parse(await machine.run("hlust keys list --json"));
  await machine.run(revoke.replace("apiKeys/ID", String(keys[0].name)));
});

/** Returns commands with the name of the newest backup in place of that of the guides. */
function withBackup(commands: string): string {
  const newest = readdirSync(join(folder, "srv/backups")).toSorted().at(-1) ?? "none";
  return commands.replaceAll("2026-11-28T02-00-00.123Z", newest);
}

/** Runs commands with backups; those that restore have another place. */
async function runBackups(block: string): Promise<void> {
  for (const command of block.trim().split("\n")) {
    await machine.run(withBackup(command), command.includes(" restore ") ? restored : {});
  }
}

test(
  "a backup is made, verified and restored, and the restored archive is released",
  { skip },
  async () => {
    await runBackups(blockOf(run.nightly));
    await runBackups(blockOf(run.backup));
    const quarantine = blockOf(run.quarantine);
    await machine.run(quarantine, { ...restored, HLUST_PORT: "0" });
    // The same again, from the service's own point of view: it moves to another database.
    rmSync(join(folder, "restored"), { recursive: true });
    await runAsAdmin("drop database restored", createRestored);
    await runBackups(blockOf(run.move));
  },
);

test("a node is upgraded and restarted as described", { skip }, async () => {
  await machine.run(blockOf(run.upgrade));
  const restart = blockOf(run.restart);
  const out = await machine.run(restart.replace(":8080", `:${port}`));
  assert.match(out, /"status":"ready"/);
});

test("engine nodes are set up and planned as described", { skip }, async () => {
  const [first, second] = [await freePort(), await freePort()];
  const block = blockOf(run.engineNodes)
    .replace("0.0.0.0:8090", `127.0.0.1:${first}`)
    .replace("10.0.0.5:8090", `127.0.0.1:${first}`)
    .replace("10.0.0.6:8090", `127.0.0.1:${second}`);
  const output = await machine.run(block, { HLUST_PORT: "0" });
  assert.match(output, /"event":"engine.node_joined"/);
  const plan = await machine.run(blockOf(run.plan), { HLUST_ENGINE: "auto" });
  assert.match(plan, /is-IS-starter/);
});

test("every block of the table has run", { skip }, () => {
  assert.deepEqual(new Set(Object.values(run)).difference(used), new Set());
});
