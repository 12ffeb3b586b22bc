// The settings of a service: the file that HLUST_CONFIG names, `hlust config --check`, and what
// SIGHUP changes in a running service.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startService } from "../fault/process.ts";
import { putModel } from "../fixtures/open-model-pool.ts";
import { openTestAuthority } from "../fixtures/test-authority.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { until } from "../fixtures/until.ts";
import { callRest } from "../spec/service.ts";
import { openStream } from "../spec/stream.ts";
import { openSocket, servedName } from "./tls-streams.ts";

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
    /^hlust: \S+wrong.yaml:3:15: HLUST_ROLE must be one of all, api, worker, engine, not "boss"$/m,
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

test("SIGHUP changes what can change, while a stream continues", { timeout: 300_000 }, async () => {
  const authority = await openTestAuthority(join(folder, "reloaded"));
  const [one, two] = [await authority.issue("one"), await authority.issue("two")];
  const write = (
    streams: number,
    origin: string,
    { certificate, key }: typeof one,
    rest = "",
  ): string =>
    file(
      "reloaded.yaml",
      `limits:
  HLUST_ACCOUNT_STREAMS: ${streams}
callers:
  HLUST_ALLOWED_ORIGINS: [${origin}]
tls:
  HLUST_TLS_CERTIFICATE: ${certificate}
  HLUST_TLS_KEY: ${key}
service:
  HLUST_DEFAULT_LANGUAGE: is-IS
${rest}`,
    );
  const path = write(1, "https://a.example", one);
  const settings = { HLUST_ENGINE: "scripted", HLUST_CONFIG: path };
  await using service = await startService(join(folder, "data"), settings);
  const { address, key, child } = service;
  const logged = (event: string) =>
    service
      .output()
      .errors.split("\n")
      .filter((line) => line.includes(`"event":"${event}"`));
  const allows = async (origin: string) => {
    const { headers } = await fetch(`${address}/healthz`, { headers: { origin } });
    return headers.get("access-control-allow-origin") === origin;
  };
  const reload = async (event: string) => {
    const before = logged(event).length;
    child.kill("SIGHUP");
    await until(async () => logged(event).length > before);
    return logged(event).at(-1) ?? "";
  };
  const end = await openSocket(service);
  await assert.rejects(openStream(address, { token: key }), /HTTP 429/);
  assert.ok((await allows("https://a.example")) && !(await allows("https://b.example")));

  // What happens to media needs a restart; the port is set by the environment, which comes first.
  write(2, "https://b.example", two, "  HLUST_KEEP_MEDIA: false\n  HLUST_PORT: 9\n");
  const changed = await reload("settings.reloaded");
  assert.deepEqual(JSON.parse(changed).changed, [
    "HLUST_ACCOUNT_STREAMS",
    "HLUST_ALLOWED_ORIGINS",
    "HLUST_TLS_CERTIFICATE",
    "HLUST_TLS_KEY",
  ]);
  await until(async () => logged("settings.need_restart").length === 1);
  assert.match(
    logged("settings.need_restart").join(),
    /"level":"warn".*"problem":"changed, but needs a restart: HLUST_KEEP_MEDIA"/,
  );
  await until(async () => !(await allows("https://a.example")));
  assert.ok(await allows("https://b.example"));
  await until(async () => (await servedName(address)) === "two");
  let endSecond: Awaited<ReturnType<typeof openSocket>> | undefined;
  // The counts of nodes, and with them the limits, are shared each second.
  await until(async () => {
    endSecond = await openSocket(service);
    return true;
  });

  // Invalid settings change nothing.
  write(0, "https://c.example", one, "  HLUST_LGO: debug\n");
  assert.match(await reload("settings.refused"), /reloaded.yaml:10:3: HLUST_LGO is not a setting/);
  assert.ok(await allows("https://b.example"));
  assert.equal(await servedName(address), "two");

  // The level of the log counts at once: of this reload only the warning is logged.
  write(2, "https://b.example", two, "  HLUST_KEEP_MEDIA: false\n  HLUST_LOG: warn\n");
  await reload("settings.need_restart");
  assert.equal(logged("settings.reloaded").length, 1);

  assert.ok((await end()) > 0);
  assert.ok(((await endSecond?.()) ?? 0) > 0);
});

test("SIGHUP changes which model serves, and names one that is not installed", async () => {
  const models = join(folder, "models");
  mkdirSync(models);
  // It is meant for jobs only, unless the operator chooses it.
  putModel({
    name: "faroese",
    into: models,
    change(copy) {
      const card = join(copy, "model.json");
      writeFileSync(
        card,
        JSON.stringify({ ...JSON.parse(readFileSync(card, "utf8")), uses: ["job"] }),
      );
    },
  });
  const write = (choice: string) =>
    file("models.yaml", `models:\n  HLUST_MODELS: ${models}\n  HLUST_MODEL_CHOICE: ${choice}\n`);
  const settings = { HLUST_CONFIG: write("is-IS=is-IS-starter") };
  await using service = await startService(join(folder, "chosen"), settings);
  const statusOf = async () => {
    const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "fo-FO" };
    const body = { config, audio: { content: Buffer.alloc(16_000).toString("base64") } };
    const call = { method: "POST", path: "/v2beta1/speech:recognize", body };
    return (await callRest(service.address, service.key, call)).status;
  };
  assert.equal(await statusOf(), 400);
  write("fo-FO:short=faroese");
  service.child.kill("SIGHUP");
  await until(async () => (await statusOf()) === 200);
  write("fo-FO:short=absent");
  service.child.kill("SIGHUP");
  await until(async () => (await statusOf()) === 400);
  await until(async () =>
    /"problem":"absent is not installed".*"model\.choice_unmet"/.test(service.output().errors),
  );
});
