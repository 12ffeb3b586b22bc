import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

test("a service with media in a folder does not load the S3 SDK", () => {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(new URL("../app.ts", import.meta.url).href)});
    const before = loaded.filter((url) => url.includes("/@aws-sdk/")).length;
    await import(${JSON.stringify(new URL("s3-store.ts", import.meta.url).href)});
    console.log(before, loaded.filter((url) => url.includes("/@aws-sdk/")).length > 0);
  `;
  const args = ["--input-type=module", "--eval", program];
  assert.equal(execFileSync(process.execPath, args, { encoding: "utf8" }), "0 true\n");
});
