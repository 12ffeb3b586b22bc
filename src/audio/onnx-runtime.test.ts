import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, mkdtempDisposableSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";

test("onnxruntime keeps no id of the device, and no events to send", async () => {
  using home = mkdtempDisposableSync(join(tmpdir(), "hlust-test-"));
  const program = `
    const { speechNetwork, NetworkState } =
      await import(${JSON.stringify(join(import.meta.dirname, "speech-network.ts"))});
    const [context, chunk] = [new Int16Array(64), new Int16Array(512)];
    console.log(speechNetwork().judge(context, chunk, new NetworkState()) < 0.5);`;
  // The library has no telemetry in CI either, so the variables of this process are not passed on.
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { env: { HOME: home.path } },
  );
  assert.deepEqual([stdout, stderr], ["true\n", ""]);
  assert.deepEqual(readdirSync(home.path), []);
});

test("onnxruntime is imported only where its telemetry is turned off before", () => {
  const root = join(import.meta.dirname, "../..");
  const files = globSync(["src/**/*.ts", "bench/**/*.ts", "test/**/*.ts"], { cwd: root });
  const importing = files.filter((file) =>
    /(?:from|import|import\(|require\() ?"onnxruntime-/.test(
      readFileSync(join(root, file), "utf8"),
    ),
  );
  assert.deepEqual(importing, ["src/audio/onnx-runtime.ts"]);
});
