import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConfigError, readConfig } from "../config.ts";
import { describeSettings } from "./describe-settings.ts";
import { GivenSettings } from "./given-settings.ts";
import { settingGroups } from "./setting-groups.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-given-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const url = "postgres://hlust:pass@db/hlust";
const other = "postgres://other:pass@db/other";
const urlFile = file("url", `${url}\n`);
const otherFile = file("other", other);
const credentials = join(folder, "credentials");
mkdirSync(credentials);
writeFileSync(join(credentials, "DATABASE_URL"), `${other}\n`);
const config = file("hlust.yaml", `database:\n  DATABASE_URL_FILE: ${urlFile}\n`);

test("readConfig() ignores the variables of other programs", () => {
  const names = [
    ["DATABASE_HOST", "DATABASE_PORT", "DATABASE_USER", "DATABASE_NAME", "DATABASE_PASSWORD"],
    ["DATABASE_SSL", "DATABASE_DSN", "DATABASE_URL_UNPOOLED", "DATABASE_URL_TEST", "DATABASE"],
    ["DB_URL", "DB_HOST", "TEST_DATABASE_URL", "PGDATABASE", "PGHOST", "PGSSLMODE", "REDIS_URL"],
    ["POSTGRES_URL", "POSTGRES_PASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
    ["AWS_REGION", "AWS_ENDPOINT_URL_S3", "AWS_S3_BUCKET", "S3_URL", "S3_HOST", "S3_KEY"],
    ["HOST_PORT", "HOST", "PORT", "HOSTNAME", "USER", "HOME", "PATH", "LANG", "TZ", "SHLVL"],
    ["KUBERNETES_SERVICE_HOST", "HLUST_TOKEN", "HLUST_VECTORS", "NODE_OPTIONS", "CI", "_"],
  ].flat();
  readConfig(Object.fromEntries(names.map((name) => [name, "x"])));
  // The setting itself is set, so the variable with the similar name belongs to another program.
  readConfig({ DATABASE_URL: "postgres://db/hlust", DATABASE_URL2: "postgres://db/other" });
  readConfig({ DATABASE_URI: "" });
});

test("a secret is read from its file, without one line end", () => {
  const read = (environment: Record<string, string>) => readConfig(environment).database.url;
  assert.equal(read({ DATABASE_URL_FILE: urlFile }), url);
  assert.equal(read({ DATABASE_URL_FILE: otherFile }), other);
  assert.equal(read({ DATABASE_URL_FILE: file("crlf", `${url}\r\n`) }), url);
  assert.equal(read({ DATABASE_URL_FILE: file("two", `${url}\n\n`) }), `${url}\n`);
  assert.equal(read({ CREDENTIALS_DIRECTORY: credentials }), other);
  assert.equal(read({ HLUST_CONFIG: config }), url);
  const { s3 } = readConfig({
    S3_BUCKET: "media",
    S3_ACCESS_KEY_ID_FILE: file("id", "id\n"),
    S3_SECRET_ACCESS_KEY_FILE: file("secret", " a secret \n"),
  });
  assert.deepEqual(s3?.key, { id: "id", secret: " a secret " });
});

test("every secret can be in a file, in a credential, and in a file that the configuration names", () => {
  const secretFile = file("any-secret", "hidden\n");
  const others = join(folder, "other-credentials");
  mkdirSync(others);
  let count = 0;
  for (const [group, settings] of Object.entries(settingGroups)) {
    for (const setting of settings.filter(({ secret }) => secret)) {
      const { name } = setting;
      count += 1;
      writeFileSync(join(others, name), "hidden\n");
      const yaml = file(`${name}.yaml`, `${group}:\n  ${name}_FILE: ${secretFile}\n`);
      for (const environment of [
        { [`${name}_FILE`]: secretFile },
        { CREDENTIALS_DIRECTORY: others },
        { HLUST_CONFIG: yaml },
      ]) {
        const given = new GivenSettings(environment, settingGroups);
        assert.equal(given.find(setting).text, "hidden", JSON.stringify(environment));
        assert.deepEqual(given.problems, []);
      }
    }
  }
  assert.ok(count >= 9, `${count} secrets`);
});

test("the environment comes before a credential, and a credential before the file", () => {
  const read = (environment: Record<string, string>) => readConfig(environment).database.url;
  const third = "postgres://third@db/third";
  const all = { CREDENTIALS_DIRECTORY: credentials, HLUST_CONFIG: config };
  assert.equal(read(all), other);
  assert.equal(read({ ...all, DATABASE_URL: third }), third);
  assert.equal(read({ ...all, DATABASE_URL_FILE: urlFile }), url);
  assert.equal(read({ ...all, CREDENTIALS_DIRECTORY: folder }), url, "there is no such credential");
});

test("the problems of secrets name the setting and the file, never the secret", () => {
  const twice = file(
    "twice.yaml",
    `database:\n  DATABASE_URL: ${url}\n  DATABASE_URL_FILE: ${urlFile}\n`,
  );
  mkdirSync(join(folder, "folder", "DATABASE_URL"), { recursive: true });
  const rows: [environment: Record<string, string>, problem: RegExp][] = [
    [
      { DATABASE_URL: url, DATABASE_URL_FILE: urlFile },
      /^DATABASE_URL and DATABASE_URL_FILE are both set: remove one of them$/,
    ],
    [{ HLUST_CONFIG: twice }, /twice.yaml:3:22: DATABASE_URL and DATABASE_URL_FILE are both set/],
    [{ DATABASE_URL_FILE: "/no/such" }, /^DATABASE_URL_FILE: \/no\/such cannot be read: ENOENT.*$/],
    [{ DATABASE_URL_FILE: folder }, /^DATABASE_URL_FILE: .* cannot be read: EISDIR/],
    [{ DATABASE_URL_FILE: file("empty", "\n") }, /empty cannot be read: it is empty$/],
    [
      { DATABASE_URL_FILE: file("long", "a".repeat(70_000)) },
      /long cannot be read: it has 70000 bytes; at most 64 KiB are allowed$/,
    ],
    [
      { CREDENTIALS_DIRECTORY: join(folder, "folder") },
      /^the credential DATABASE_URL: .* cannot be read: EISDIR/,
    ],
    [
      { DATABASE_URL_FILE: file("mysql", "mysql://u:hidden@db") },
      /^\S+mysql: DATABASE_URL must begin with postgres:\/\/$/,
    ],
    [{ HLUST_PORT_FILE: urlFile }, /^HLUST_PORT_FILE is not a setting/],
  ];
  for (const [environment, problem] of rows) {
    assert.throws(
      () => readConfig(environment),
      (error) =>
        error instanceof ConfigError &&
        problem.test(error.message) &&
        !/pass@|hidden/.test(error.message),
      JSON.stringify(environment),
    );
  }
});

test("describeSettings() shows where a setting was given", () => {
  const path = file("shown.yaml", `service:\n  HLUST_PORT: 9000\n`);
  const text = describeSettings({ HLUST_CONFIG: path, DATABASE_URL_FILE: urlFile });
  assert.match(text, /HLUST_PORT\n.*\n +9000 +\(default: 8080; from \S+shown.yaml:2:15\)/);
  assert.match(text, /DATABASE_URL\n.*\n +\(set\) +\(from \S+url\)/);
  assert.match(text, /HLUST_CONFIG\n.*\n +\S+shown.yaml +\(default: none\)/);
  assert.ok(!text.includes("pass@"));
});

test("describeSettings() shows the meaning, value and default of each setting, but no secrets", () => {
  const text = describeSettings({
    DATABASE_URL: "postgres://hlust:secret@db/hlust",
    S3_BUCKET: "media",
    S3_ACCESS_KEY_ID: "a secret too",
    S3_SECRET_ACCESS_KEY: "secret",
    HLUST_PORT: "9000",
  });
  assert.match(text, /HLUST_PORT\n.*\n +9000 +\(default: 8080\)/);
  assert.match(text, /HLUST_HOST\n.*\n +default: 127\.0\.0\.1/);
  assert.match(text, /DATABASE_URL\n.*\n +\(set\)/);
  assert.equal(text.includes("secret"), false);
  for (const name of [
    "HLUST_ROLE",
    "HLUST_ALLOW_MEDIA_FROM",
    "HLUST_ALLOW_WEBHOOKS_TO",
    "HLUST_SANDBOX",
    "HLUST_LOG",
    "HLUST_HTTP_RULES",
  ]) {
    assert.ok(text.includes(name));
  }
});
