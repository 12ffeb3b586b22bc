import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openTestAuthority } from "../../test/fixtures/test-authority.ts";
import { CertificateNotYetValid, readCertificate } from "./certificate.ts";
import { ConfigError } from "./setting.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-certificate-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
const authority = await openTestAuthority(join(folder, "ca"));
const good = await authority.issue("good", { days: 30 });
const other = await authority.issue("other", { key: "rsa" });
const [goodPem, goodKey] = [readFileSync(good.certificate, "utf8"), readFileSync(good.key, "utf8")];

const read = (certificate: string, key: string, now?: Date) =>
  readCertificate(
    {
      certificate: { setting: "HLUST_TLS_CERTIFICATE", path: certificate },
      key: { setting: "HLUST_TLS_KEY", path: key },
    },
    now,
  );

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test("readCertificate() returns a certificate with its issuers, its names and its end", async () => {
  const chain = file("chain.pem", `${goodPem}${readFileSync(authority.certificate, "utf8")}`);
  const { cert, key, names, expiresAt } = await read(chain, good.key);
  assert.equal(cert, readFileSync(chain, "utf8"));
  assert.equal(key, goodKey);
  assert.equal(names, "IP Address:127.0.0.1, DNS:localhost");
  const daysLeft = (expiresAt.getTime() - Date.now()) / 86_400_000;
  assert.ok(daysLeft > 29 && daysLeft < 31, String(expiresAt));
  assert.equal((await read(other.certificate, other.key)).names, names, "with an RSA key");
});

test("readCertificate() names the setting, the file and the problem of each bad input", async () => {
  const expired = await authority.issue("expired", { at: "10 days ago", days: 5 });
  const encrypted = join(folder, "encrypted.key");
  const encrypt = ["pkey", "-aes256", "-passout", "pass:secret", "-in", good.key];
  execFileSync("openssl", [...encrypt, "-out", encrypted]);
  const small = join(folder, "small.key");
  const smallPem = join(folder, "small.pem");
  const request = ["req", "-x509", "-newkey", "rsa:1024", "-nodes", "-subj", "/CN=small"];
  execFileSync("openssl", [...request, "-keyout", small, "-out", smallPem], { stdio: "ignore" });
  const both = file("wrong-order.pem", `${readFileSync(other.certificate, "utf8")}${goodPem}`);
  const body = goodPem.split("\n");
  const rows: [certificate: string, key: string, problem: RegExp][] = [
    ["/no/such.pem", good.key, /^HLUST_TLS_CERTIFICATE: \/no\/such.pem cannot be read: ENOENT/],
    [good.certificate, "/no/such.key", /^HLUST_TLS_KEY: \/no\/such.key cannot be read: ENOENT/],
    [folder, good.key, /^HLUST_TLS_CERTIFICATE: .* cannot be read: EISDIR/],
    [
      file("empty.pem", ""),
      good.key,
      /^HLUST_TLS_CERTIFICATE: .*empty.pem has no certificate in PE/,
    ],
    [
      good.certificate,
      file("empty.key", ""),
      /^HLUST_TLS_KEY: .*empty.key has no private key in PEM/,
    ],
    [
      good.key,
      good.certificate,
      /^HLUST_TLS_CERTIFICATE: .*good.key has no certificate in PEM form/,
    ],
    [
      file("half.pem", goodPem.slice(0, -200)),
      good.key,
      /^HLUST_TLS_CERTIFICATE: .*half.pem is incomplete: it ends within certificate 1$/,
    ],
    [
      file("half-chain.pem", goodPem + goodPem.slice(0, 300)),
      good.key,
      /^HLUST_TLS_CERTIFICATE: .*half-chain.pem is incomplete: it ends within certificate 2$/,
    ],
    [
      file("damaged.pem", [...body.slice(0, 3), ...body.slice(4)].join("\n")),
      good.key,
      /^HLUST_TLS_CERTIFICATE: .*damaged.pem has a damaged certificate 1: /,
    ],
    [
      good.certificate,
      file("half.key", goodKey.slice(0, -60)),
      /^HLUST_TLS_KEY: .*half.key is incomplete: it ends within the key$/,
    ],
    [
      good.certificate,
      file("damaged.key", goodKey.replace(/\n.{20}/, "\n")),
      /^HLUST_TLS_KEY: .*damaged.key has a damaged key: /,
    ],
    [
      good.certificate,
      encrypted,
      /^HLUST_TLS_KEY: .*encrypted.key has an encrypted key, which needs/,
    ],
    [
      good.certificate,
      other.key,
      /^HLUST_TLS_CERTIFICATE: .*good.pem belongs to another key than .*other.key \(HLUST_TLS_KEY\)$/,
    ],
    [both, good.key, /^HLUST_TLS_CERTIFICATE: .* must begin with .* which is certificate 2 in it$/],
    [expired.certificate, expired.key, /^HLUST_TLS_CERTIFICATE: .*expired.pem expired at \d{4}-/],
    [smallPem, small, /^HLUST_TLS_CERTIFICATE: .*small.pem cannot be served: .*key too small/],
  ];
  for (const [certificate, key, problem] of rows) {
    await assert.rejects(
      read(certificate, key),
      (error) => error instanceof ConfigError && problem.test(error.message),
      `${certificate} ${key}`,
    );
  }
});

test("readCertificate() refuses a certificate that is not valid yet, with its first moment", async () => {
  const early = new Date(Date.now() - 10 * 86_400_000);
  await assert.rejects(read(good.certificate, good.key, early), (error) => {
    assert.ok(error instanceof CertificateNotYetValid);
    assert.match(
      error.message,
      /^HLUST_TLS_CERTIFICATE: .*good.pem is valid from \d{4}-.* on; it is/,
    );
    return Math.abs(error.validFrom.getTime() - Date.now()) < 3_600_000;
  });
});
