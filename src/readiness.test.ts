import assert from "node:assert/strict";
import { mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { enginePids, until } from "../test/fixtures/engine-pool-fixture.ts";
import { putModel } from "../test/fixtures/open-model-pool.ts";
import { openEnginePool } from "./engines/pool/engine-pool.ts";
import { readinessChecks } from "./readiness.ts";
import { createLog } from "./std/log.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-readiness-"));
after(() => {
  rmSync(folder, { recursive: true });
});

test("engines are ready when every process of the models found at startup has loaded, and a model that cannot be loaded is named", async () => {
  putModel({
    name: "broken",
    into: folder,
    withChecksums: false,
    change: (model) => truncateSync(join(model, "model.onnx"), 10_000),
  });
  const log = createLog("silent");
  const options = { engine: "auto", processes: 2, modelsFolder: folder, log } as const;
  await using recognizer = await openEnginePool(options);
  const answers = () => Promise.resolve({});
  const checks = readinessChecks(
    {
      database: { ping: () => Promise.resolve() },
      archive: { ping: answers },
      recognizer,
      sandbox: { kind: "reduced" },
    },
    "all",
  );
  const engines = checks.find(({ name }) => name === "engines") ?? assert.fail();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- facts, as /readyz shows them
  const ask = async () => (await engines.check()) as Record<string, unknown>;

  const first = await ask();
  assert.equal(first["ready"], false);
  assert.match(String(first["reason"]), /^models are being loaded: .*\S \(1 of 2 processes\)$/);
  assert.deepEqual(first["refused"], [{ name: "broken", reason: "NOT_LOADED" }]);

  await recognizer.loaded(AbortSignal.timeout(60_000));
  const loaded = await ask();
  assert.equal("ready" in loaded, false, "the report is that of a ready part");
  assert.deepEqual([loaded["running"], loaded["processes"]], [4, 4]);
  assert.deepEqual(loaded["refused"], first["refused"]);

  const [pid = assert.fail()] = enginePids();
  process.kill(pid, "SIGKILL");
  await until(() => recognizer.state().ready === 3, "one has exited");
  assert.equal("ready" in (await ask()), false, "another one serves while it is restarted");
});

test("a worker reports its readiness for jobs only", () => {
  const answers = () => Promise.resolve({});
  const parts = {
    database: { ping: () => Promise.resolve() },
    archive: { ping: answers },
    recognizer: { state: () => assert.fail() },
    sandbox: { kind: "reduced" },
  } as const;
  const usesOf = (role: "all" | "api" | "worker") =>
    Object.fromEntries(readinessChecks(parts, role).map(({ name, uses }) => [name, uses]));
  assert.deepEqual(usesOf("worker"), {
    database: ["jobs"],
    engines: ["jobs"],
    media: ["jobs"],
    sandbox: ["jobs"],
  });
  for (const role of ["all", "api"] as const) {
    assert.deepEqual(usesOf(role), {
      database: ["speech", "transcripts", "jobs"],
      engines: ["speech", "jobs"],
      media: ["jobs"],
      sandbox: ["jobs"],
    });
  }
});
