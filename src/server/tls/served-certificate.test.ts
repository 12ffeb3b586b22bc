import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { openTestAuthority } from "../../../test/fixtures/test-authority.ts";
import type { Certificate as Files } from "../../../test/fixtures/trusted-certificate.ts";
import { until } from "../../../test/fixtures/until.ts";
import { ServedCertificate } from "./served-certificate.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-served-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
const authority = await openTestAuthority(join(folder, "ca"));
const [first, second, third] = [
  await authority.issue("first"),
  await authority.issue("second"),
  await authority.issue("third"),
];
const dayMs = 86_400_000;
const lookMs = 20;

const textOf = (path: string) => readFileSync(path, "utf8");

function keptLog() {
  const events: Record<string, unknown>[] = [];
  const write = (line: string) => void events.push(JSON.parse(line));
  const log = pino({ level: "debug", base: null, messageKey: "event" }, { write });
  const count = (event: string) => events.filter((each) => each["event"] === event).length;
  return { log, events, count };
}

const filesAt = ({ certificate, key }: Files) => ({
  certificate: { setting: "HLUST_TLS_CERTIFICATE", path: certificate },
  key: { setting: "HLUST_TLS_KEY", path: key },
});

/** Serves the first certificate from a folder of its own, which a test changes. */
async function openServed(name: string, now?: () => Date) {
  const own = join(folder, name);
  mkdirSync(own);
  const paths = { certificate: join(own, "tls.crt"), key: join(own, "tls.key") };
  const put = ({ certificate, key }: Files) => {
    writeFileSync(paths.certificate, textOf(certificate));
    writeFileSync(paths.key, textOf(key));
  };
  put(first);
  const kept = keptLog();
  const parts = { log: kept.log, lookMs, ...(now && { now }) };
  const served = await ServedCertificate.open(filesAt(paths), parts);
  return { own, paths, put, served, ...kept };
}

const serves = async (served: ServedCertificate, { certificate }: Files) => {
  await until(async () => served.current.cert === textOf(certificate));
};

test("a certificate follows files that are written again in place", async () => {
  await using parts = new AsyncDisposableStack();
  const { served, put, count } = await openServed("in-place");
  parts.use(served);
  const replaced: string[] = [];
  served.onReplaced(({ cert }) => replaced.push(cert));
  put(second);
  await serves(served, second);
  put(third);
  await serves(served, third);
  assert.deepEqual(replaced, [textOf(second.certificate), textOf(third.certificate)]);
  assert.equal(count("tls.certificate_refused"), 0);
});

test("files that are still being written are not read", async () => {
  await using parts = new AsyncDisposableStack();
  const { served, paths, put, count } = await openServed("growing");
  parts.use(served);
  const text = textOf(second.certificate);
  // Each look finds other files than the one before.
  for (let length = 1; length < text.length; length += 5) {
    writeFileSync(paths.certificate, text.slice(0, length));
    await delay(lookMs / 5);
  }
  put(second);
  await serves(served, second);
  assert.equal(count("tls.certificate_refused"), 0);
});

test("a certificate follows files that are replaced by a rename", async () => {
  await using parts = new AsyncDisposableStack();
  const { served, paths } = await openServed("rename");
  parts.use(served);
  for (const name of ["certificate", "key"] as const) {
    writeFileSync(`${paths[name]}.new`, textOf(second[name]));
    renameSync(`${paths[name]}.new`, paths[name]);
  }
  await serves(served, second);
});

test("a certificate follows a link to a folder that is swapped, as in Kubernetes", async () => {
  const own = join(folder, "kubernetes");
  for (const [version, files] of Object.entries({ v1: first, v2: second })) {
    mkdirSync(join(own, version), { recursive: true });
    writeFileSync(join(own, version, "tls.crt"), textOf(files.certificate));
    writeFileSync(join(own, version, "tls.key"), textOf(files.key));
  }
  symlinkSync("v1", join(own, "..data"));
  for (const name of ["tls.crt", "tls.key"]) symlinkSync(`..data/${name}`, join(own, name));
  const files = filesAt({ certificate: join(own, "tls.crt"), key: join(own, "tls.key") });
  await using served = await ServedCertificate.open(files, { log: keptLog().log, lookMs });
  symlinkSync("v2", join(own, "..data_tmp"));
  renameSync(join(own, "..data_tmp"), join(own, "..data"));
  rmSync(join(own, "v1"), { recursive: true });
  await serves(served, second);
});

test("files that cannot be served are refused once, and read again when they change", async () => {
  await using parts = new AsyncDisposableStack();
  const { served, paths, put, events, count } = await openServed("refused");
  parts.use(served);
  const expired = await authority.issue("expired", { at: "10 days ago", days: 5 });
  const states: [problem: RegExp, change: () => void][] = [
    [/belongs to another key/, () => writeFileSync(paths.key, textOf(second.key))],
    [
      /is incomplete/,
      () => writeFileSync(paths.certificate, textOf(second.certificate).slice(0, 200)),
    ],
    [/cannot be read: ENOENT/, () => rmSync(paths.certificate)],
    [/expired at/, () => put(expired)],
  ];
  for (const [index, [problem, change]] of states.entries()) {
    change();
    await until(async () => count("tls.certificate_refused") > index);
    const refused = events.findLast(({ event }) => event === "tls.certificate_refused");
    assert.match(String(refused?.["problem"]), problem);
    assert.equal(refused?.["level"], 40);
    assert.equal(served.current.cert, textOf(first.certificate));
  }
  await delay(10 * lookMs);
  assert.equal(count("tls.certificate_refused"), states.length, "each state is refused once");
  put(second);
  await serves(served, second);
  const secrets = JSON.stringify(events);
  assert.ok(!secrets.includes("PRIVATE KEY") && !secrets.includes("BEGIN CERTIFICATE"));
});

test("a certificate that is not valid yet is served from its first moment on", async () => {
  await using parts = new AsyncDisposableStack();
  let now = new Date();
  const { served, put, count } = await openServed("early", () => now);
  parts.use(served);
  const later = await authority.issue("later", { at: "5 days", days: 30 });
  put(later);
  await until(async () => count("tls.certificate_refused") === 1);
  assert.equal(served.current.cert, textOf(first.certificate));
  now = new Date(Date.now() + 6 * dayMs);
  await serves(served, later);
  assert.equal(count("tls.certificate_refused"), 1);
});

test("a certificate that expires within 14 days is logged each day", async () => {
  await using parts = new AsyncDisposableStack();
  let now = new Date();
  const { served, count } = await openServed("expires", () => now);
  parts.use(served);
  assert.equal(count("tls.certificate_loaded"), 1);
  assert.equal(count("tls.certificate_expires_soon"), 0);
  const inDays = (days: number) => new Date(served.current.expiresAt.getTime() - days * dayMs);
  now = inDays(13);
  await until(async () => count("tls.certificate_expires_soon") === 1);
  now = inDays(11.9);
  await until(async () => count("tls.certificate_expires_soon") === 2);
  now = inDays(-1);
  await until(async () => count("tls.certificate_expired") === 1);
  assert.equal(count("tls.certificate_expires_soon"), 2);
});

test("reload() reads at once, and other files if they are named", async () => {
  await using parts = new AsyncDisposableStack();
  const { served, count } = await openServed("reload");
  parts.use(served);
  await served.reload(filesAt(second));
  assert.equal(served.current.cert, textOf(second.certificate));
  await served.reload(filesAt({ certificate: third.certificate, key: second.key }));
  assert.equal(served.current.cert, textOf(second.certificate));
  assert.equal(count("tls.certificate_refused"), 1);
});
