// The settings of a service: the file that HLUST_CONFIG names, `hlust config --check`, and what
// SIGHUP changes in a running service.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openTestAuthority } from "../fixtures/test-authority.ts";
import { runHlust } from "../fixtures/run-hlust.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-config-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("hlust config --check shows every problem at once", async () => {
  const authority = await openTestAuthority(join(folder, "ca"));
  const [one, two] = [await authority.issue("one"), await authority.issue("two")];
  const path = file(
    "wrong.yaml",
    `service:
  HLUST_PROT: 8080
  HLUST_ROLE: boss
  HLUST_ALLOW_MEDIA_FROM: [10.0.0.0/33]
  HLUST_HTTP_RULES: ${file("rules.yaml", "http: 7\n")}
models:
  HLUST_CATALOGUE: ${file("catalogue.json", "{")}
tls:
  HLUST_TLS_CERTIFICATE: ${one.certificate}
  HLUST_TLS_KEY: ${two.key}
`,
  );
  const environment = { HLUST_CONFIG: path, DATABASE_URL_FILE: "/no/such/file", HLUST_X: "1" };
  const { code, out, errors } = await runHlust(["config", "--check"], environment);
  assert.equal(code, 1, errors);
  assert.equal(out, "");
  const problems = [
    /^hlust: HLUST_X is not a setting$/m,
    /^hlust: \S+wrong.yaml:2:3: HLUST_PROT is not a setting: did you mean HLUST_PORT\?$/m,
    /^hlust: \S+wrong.yaml:3:15: HLUST_ROLE must be one of all, api, worker, not "boss"$/m,
    /^hlust: DATABASE_URL_FILE: \/no\/such\/file cannot be read: ENOENT/m,
    /^hlust: HLUST_ALLOW_MEDIA_FROM: .*10.0.0.0\/33/m,
    /^hlust: HLUST_HTTP_RULES cannot be used:\n.*rules.yaml:1/m,
    /^hlust: HLUST_CATALOGUE: \S+catalogue.json cannot be used: /m,
    /^hlust: HLUST_TLS_CERTIFICATE: \S+one.pem belongs to another key/m,
  ];
  for (const problem of problems) assert.match(errors, problem);
  assert.equal(errors.match(/^hlust: /gm)?.length, problems.length, errors);
});

test("hlust config --check accepts valid settings, and shows the end of the certificate", async () => {
  const { certificate, key } = await (await openTestAuthority(join(folder, "valid"))).issue("a");
  const path = file(
    "valid.yaml",
    `tls:\n  HLUST_TLS_CERTIFICATE: ${certificate}\n  HLUST_TLS_KEY: ${key}\n`,
  );
  const { code, out, errors } = await runHlust(["config", "--check"], { HLUST_CONFIG: path });
  assert.equal(errors, "");
  assert.match(out, /^the settings are valid\nthe certificate expires at \d{4}-.*Z\n$/);
  assert.equal(code, 0);
  const wrong = await runHlust(["config", "--chekc"], {});
  assert.equal(wrong.code, 2);
  assert.match(wrong.errors, /--chekc(.|\n)*Usage: hlust config \[--check\]/);
});
