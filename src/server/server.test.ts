import assert from "node:assert/strict";
import { test } from "node:test";
import { Streams } from "../../test/gen/streams_pb.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { implemented } from "./methods.ts";
import { openServer } from "./server.ts";

test("openServer() breaks a call off whose failure cannot be written, and answers the next", async () => {
  // No header can carry it.
  const broken = new ServiceError("unimplemented", "x", { metadata: { allow: "\u7b2c" } });
  const refuse = () => Promise.reject(broken);
  async function* none() {}
  await using server = await openServer({
    host: "127.0.0.1",
    port: 0,
    services: [
      implemented(Streams, {
        count: none,
        names: none,
        export: none,
        talk: none,
        download: refuse,
        upload: refuse,
        echo: refuse,
        wait: refuse,
      }),
    ],
    authenticator: { authenticate: refuse },
    media: undefined,
    readiness: [],
    explain: () => undefined,
    log: createLog("silent"),
  });
  await assert.rejects(fetch(`${server.address}/v1/wait`), TypeError);
  assert.equal((await fetch(`${server.address}/healthz`)).status, 200);
});
