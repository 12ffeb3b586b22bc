import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readConfig } from "./config.ts";
import { LiveConfig } from "./live-config.ts";
import { isLiveSetting, settingTexts } from "./settings/setting-groups.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-live-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
const path = join(folder, "hlust.yaml");
const environment = { HLUST_CONFIG: path };

/** Another valid value of each setting that can change while the service runs, by group. */
const changes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  service: { HLUST_LOG: "debug", HLUST_STREAM_SECONDS_MAX: "60" },
  models: { HLUST_MODEL_CHOICE: "is-IS=a" },
  limits: {
    HLUST_ACCOUNT_REQUESTS_PER_MINUTE: "1",
    HLUST_ACCOUNT_STREAMS: "2",
    HLUST_ACCOUNT_JOBS_MAX: "3",
    HLUST_ACCOUNT_AUDIO_SECONDS_PER_DAY: "4",
  },
  callers: {
    HLUST_ALLOWED_ORIGINS: "https://a.example",
    HLUST_CONNECTIONS_PER_ADDRESS: "5",
    HLUST_REFUSED_PER_MINUTE: "6",
  },
  drain: { HLUST_DRAIN_DELAY: "7s", HLUST_DRAIN: "8s" },
  tls: { HLUST_TLS_CERTIFICATE: "/b.pem", HLUST_TLS_KEY: "/b.key" },
};
const tls = "tls: {HLUST_TLS_CERTIFICATE: /a.pem, HLUST_TLS_KEY: /a.key}\n";

function yamlOf(groups: typeof changes): string {
  return Object.entries(groups)
    .map(([group, settings]) => {
      const lines = Object.entries(settings).map(([name, value]) => `  ${name}: ${value}\n`);
      return `${group}:\n${lines.join("")}`;
    })
    .join("");
}

test("a reload changes every live setting, and no other one", () => {
  writeFileSync(path, tls);
  const live = new LiveConfig(environment);
  const first = readConfig(environment);
  assert.deepEqual(live.config, first);
  writeFileSync(path, yamlOf(changes));
  const names = Object.values(changes).flatMap((settings) => Object.keys(settings));
  assert.deepEqual(
    names.toSorted(),
    [...settingTexts({}).keys()].filter(isLiveSetting).toSorted(),
    "the table has every live setting",
  );
  const { changed, needRestart } = live.reload(environment);
  assert.deepEqual(changed.toSorted(), names.toSorted());
  assert.deepEqual(needRestart, []);
  const next = readConfig(environment);
  assert.deepEqual(live.config, next);
  assert.notDeepEqual(next, first);

  const fixed = "service: {HLUST_HOST: '::1'}\nlimits: {HLUST_ACCOUNT_STORED_BYTES: 5}\n";
  writeFileSync(path, `${fixed}callers: {HLUST_CONTACT: a@b.example}\n${tls}`);
  const again = live.reload(environment);
  assert.deepEqual(again.needRestart, [
    "HLUST_HOST",
    "HLUST_ACCOUNT_STORED_BYTES",
    "HLUST_CONTACT",
  ]);
  assert.deepEqual(live.config, first, "the live settings have their defaults again");
  assert.deepEqual(live.reload(environment), { changed: [], needRestart: again.needRestart });
});

test("a reload of invalid settings changes nothing", () => {
  writeFileSync(path, "drain: {HLUST_DRAIN: 1h}\n");
  const live = new LiveConfig(environment);
  writeFileSync(path, "drain: {HLUST_DRAIN: 2h, HLUST_DRAIN_DELAY: soon}\n");
  assert.throws(
    () => live.reload(environment),
    /hlust.yaml:1:45: HLUST_DRAIN_DELAY must be a time/,
  );
  assert.equal(live.config.drain.msMax, 3_600_000);
  writeFileSync(path, "drain: {HLUST_DRAIN: 2h}\n");
  assert.deepEqual(live.reload(environment).changed, ["HLUST_DRAIN"]);
  assert.equal(live.config.drain.msMax, 7_200_000);
});
