import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "./config.ts";
import { frontConfig, socketsIn } from "./open-fronts.ts";

test("a front process uses the engines of the main process, and the engine nodes of the settings", () => {
  const engines = { socketPath: "/run/hlust/engines", credential: "of this start" };
  const environment = {
    HLUST_ENGINES: "10.0.0.5:8090",
    HLUST_ENGINE_CREDENTIAL: "the-credential-of-engine-nodes",
    HLUST_OWN_ENGINES: "true",
  };
  const { hasOwnModels, nodes } = frontConfig(readConfig(environment), { engines }).engines;
  assert.equal(hasOwnModels, false);
  assert.equal(nodes?.credential, environment.HLUST_ENGINE_CREDENTIAL);
  const [main, node, ...others] = nodes.names;
  const reached = { host: "localhost", port: 80, isEncrypted: false };
  assert.deepEqual(main, { ...reached, main: { ...engines, silentMsMax: 30_000 } });
  assert.deepEqual(node, { host: "10.0.0.5", port: 8090, isEncrypted: false });
  assert.deepEqual(others, []);
  assert.equal(frontConfig(readConfig({}), { engines }).engines.nodes?.names.length, 1);
});

test("the sockets of front processes are in the data folder, or in a folder whose path is short enough", () => {
  const long = `/${"long".repeat(30)}`;
  // 107 bytes, without those of the longest name.
  const longest = `/${"d".repeat(73)}`;
  assert.equal(socketsIn("/var/lib/hlust", "/tmp"), "/var/lib/hlust");
  assert.equal(socketsIn(longest, "/tmp"), longest);
  assert.equal(socketsIn(`${longest}d`, "/tmp"), "/tmp");
  assert.equal(socketsIn(`/${"þ".repeat(37)}`, "/tmp"), "/tmp");
  assert.equal(socketsIn(`/${"þ".repeat(36)}`, "/tmp"), `/${"þ".repeat(36)}`);
  assert.throws(() => socketsIn(long, `${long}!`), {
    name: "ConfigError",
    message:
      "HLUST_DATA and TMPDIR have 121 and 122 bytes; one of both must have at most 74 for the sockets of front processes: choose a shorter folder, or set HLUST_FRONT_PROCESSES to 1",
  });
});
