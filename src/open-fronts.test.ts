import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "./config.ts";
import { frontConfig } from "./open-fronts.ts";

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
