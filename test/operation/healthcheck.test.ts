// `hlust healthcheck`, the check of a container's health.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { runHlust } from "../fixtures/run-hlust.ts";
import { openTestService } from "../spec/service.ts";

function check(host: string, address: string) {
  return runHlust(["healthcheck"], { HLUST_HOST: host, HLUST_PORT: new URL(address).port });
}

test("`hlust healthcheck` succeeds when the service of its settings has started", async () => {
  let address = "";
  {
    await using service = await openTestService({ HLUST_ENGINE: "scripted" });
    ({ address } = service);
    await service.app.loaded(AbortSignal.timeout(60_000));
    for (const host of ["127.0.0.1", "0.0.0.0"]) {
      const { code, out, errors } = await check(host, address);
      assert.deepEqual(
        { code, out, errors },
        { code: 0, out: `hlust: {"status":"started"}\n`, errors: "" },
      );
    }
  }
  const { code, errors } = await check("127.0.0.1", address);
  assert.equal(code, 1);
  assert.equal(errors, `hlust: ${address}/startupz: nothing answers there\n`);
});

test("`hlust healthcheck` fails when the service does not answer within 5 s", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  try {
    const { code, errors } = await check("127.0.0.1", `http://127.0.0.1:${address.port}`);
    assert.equal(code, 1);
    assert.match(errors, /\/startupz: no answer within 5 s\n$/);
  } finally {
    server.close();
  }
});

test("`hlust healthcheck` needs a port", async () => {
  const { code, errors } = await runHlust(["healthcheck"], { HLUST_PORT: "0" });
  assert.equal(code, 1);
  assert.equal(errors, "hlust: HLUST_PORT=0 is any port: set it to the service's own\n");
});
