import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig } from "../config.ts";

const credential = "a-credential-of-18";

test("a node names its engine nodes, and runs models itself only if it should", () => {
  const given = {
    HLUST_ENGINES: "10.0.0.5:8090, https://engines.example:443/,http://[::1]:8090",
    HLUST_ENGINE_CREDENTIAL: credential,
  };
  const names = [
    { host: "10.0.0.5", port: 8090, isEncrypted: false },
    { host: "engines.example", port: 443, isEncrypted: true },
    { host: "::1", port: 8090, isEncrypted: false },
  ];
  const { engines } = readConfig(given);
  assert.deepEqual(engines.nodes, { names, credential, authorities: undefined });
  assert.equal(engines.hasOwnModels, false);
  assert.equal(readConfig({ ...given, HLUST_OWN_ENGINES: "true" }).engines.hasOwnModels, true);
  assert.equal(readConfig({}).engines.hasOwnModels, true);
});

test("an engine node needs an address and a credential", () => {
  const given = {
    HLUST_ROLE: "engine",
    HLUST_ENGINE_LISTEN: "0.0.0.0:8090",
    HLUST_ENGINE_CREDENTIAL: credential,
  };
  const { engines, role } = readConfig(given);
  assert.equal(role, "engine");
  assert.deepEqual(engines.listen, { host: "0.0.0.0", port: 8090, credential });
});

test("the authorities of engine nodes are read from a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-engine-settings-"));
  try {
    const file = join(folder, "ca.pem");
    const given = {
      HLUST_ENGINES: "https://engines.example:443",
      HLUST_ENGINE_CREDENTIAL: credential,
      HLUST_ENGINES_CA: file,
    };
    assert.throws(() => readConfig(given), /HLUST_ENGINES_CA: .*ca.pem.*ENOENT/);
    writeFileSync(file, "no certificate");
    assert.throws(() => readConfig(given), /it has no certificate in PEM form/);
    writeFileSync(file, "-----BEGIN CERTIFICATE-----");
    assert.equal(readConfig(given).engines.nodes?.authorities, "-----BEGIN CERTIFICATE-----");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("settings of engine nodes that contradict each other are named", () => {
  const rows: [environment: Record<string, string>, problem: RegExp][] = [
    [{ HLUST_ROLE: "boss" }, /HLUST_ROLE must be one of all, api, worker, engine, not "boss"/],
    [
      { HLUST_ROLE: "engine", HLUST_ENGINE_CREDENTIAL: credential },
      /HLUST_ROLE is engine: set HLUST_ENGINE_LISTEN as well/,
    ],
    [
      { HLUST_ROLE: "engine", HLUST_ENGINE_LISTEN: "[::]:8090" },
      /HLUST_ROLE is engine: set HLUST_ENGINE_CREDENTIAL as well/,
    ],
    [
      { HLUST_ENGINE_LISTEN: "[::]:8090" },
      /HLUST_ENGINE_LISTEN is set, but HLUST_ROLE is not engine/,
    ],
    [{ HLUST_ENGINES: "a:1" }, /HLUST_ENGINES is set: set HLUST_ENGINE_CREDENTIAL as well/],
    [
      { HLUST_ENGINES: "a", HLUST_ENGINE_CREDENTIAL: credential },
      /HLUST_ENGINES must be an address with a port, such as 10.0.0.5:8090 or https:.*, not "a"/,
    ],
    [
      {
        HLUST_ROLE: "engine",
        HLUST_ENGINES: "a:1",
        HLUST_ENGINE_LISTEN: "[::]:8090",
        HLUST_ENGINE_CREDENTIAL: credential,
      },
      /HLUST_ENGINES is set, but an engine node uses no others/,
    ],
    [{ HLUST_ENGINE_CREDENTIAL: credential }, /neither HLUST_ENGINES nor HLUST_ROLE=engine is/],
    [
      { HLUST_ENGINES: "a:1", HLUST_ENGINE_CREDENTIAL: "short" },
      /HLUST_ENGINE_CREDENTIAL must be at least 16 printable ASCII characters .*, not 5:/,
    ],
    [{ HLUST_ENGINES_CA: "/a.pem" }, /HLUST_ENGINES_CA is set, but HLUST_ENGINES is not/],
    [{ HLUST_OWN_ENGINES: "false" }, /HLUST_OWN_ENGINES is false, but HLUST_ENGINES is not set/],
  ];
  for (const [environment, problem] of rows) {
    assert.throws(() => readConfig(environment), { message: problem }, String(problem));
  }
});
