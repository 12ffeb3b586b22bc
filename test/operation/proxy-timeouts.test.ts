// HAProxy, nginx and Caddy with the configurations of docs/operations, whose timeouts of minutes
// and hours are four seconds: live streams without results outlive all of them, and watches without
// changes all but the one that is for watches.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openDoor } from "../fault/open-door.ts";
import { startService, type ServiceProcess } from "../fault/process.ts";
import { silencePasses, type ProbeTarget } from "../fault/proxy-probes.ts";
import { freePort } from "../fixtures/free-port.ts";
import { openTestCaddy } from "../fixtures/open-test-caddy.ts";
import { openTestHaproxy } from "../fixtures/open-test-haproxy.ts";
import { openTestNginx } from "../fixtures/open-test-nginx.ts";
import { trustedCertificate, type Certificate } from "../fixtures/trusted-certificate.ts";
import { until } from "../fixtures/until.ts";

/** Three timeouts. */
const silenceMs = 13_000;
const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
const folder = mkdtempSync(join(tmpdir(), "hlust-proxy-timeouts-"));
const parts = new AsyncDisposableStack();
after(async () => {
  await parts.disposeAsync();
  rmSync(folder, { recursive: true, force: true });
});

const proxies = {
  HAProxy: {
    host: `${network}.1`,
    open: openTestHaproxy,
    times: {
      "timeout http-keep-alive 60s": "timeout http-keep-alive 4s",
      "timeout client 90s": "timeout client 4s",
      "timeout server 90s": "timeout server 4s",
      "timeout tunnel 1h": "timeout tunnel 4s",
    },
    forWatches: { "set-timeout server 1h": "set-timeout server 4s" },
  },
  nginx: {
    host: `${network}.2`,
    open: openTestNginx,
    times: {
      "keepalive_timeout 60s": "keepalive_timeout 4s",
      "client_body_timeout 90s": "client_body_timeout 4s",
      "proxy_send_timeout 90s": "proxy_send_timeout 4s",
      "grpc_send_timeout 90s": "grpc_send_timeout 4s",
    },
    forWatches: {
      "proxy_read_timeout 1h": "proxy_read_timeout 4s",
      "grpc_read_timeout 1h": "grpc_read_timeout 4s",
    },
  },
  // Caddy has no timeouts of streams.
  Caddy: { host: `${network}.3`, open: openTestCaddy, times: {}, forWatches: {} },
} as const;

let certificate: Certificate;
let service: ServiceProcess;
before(async () => {
  const hosts = Object.values(proxies).map(({ host }) => host);
  certificate = await trustedCertificate(folder, hosts);
  const settings = { HLUST_ENGINE: "scripted", HLUST_TRUSTED_PROXIES: "127.0.0.1" };
  service = parts.use(await startService(join(folder, "data"), settings));
});

/** Reads a stream that has nothing to say, for as long as the silence; rejects if it ends. */
async function staysOpen(open: (signal: AbortSignal) => AsyncIterable<unknown>): Promise<void> {
  const ending = new AbortController();
  let messages = 0;
  const reading = (async () => {
    for await (const _ of open(ending.signal)) messages += 1;
    throw new Error("it ended");
  })();
  reading.catch(() => {});
  await Promise.race([reading, until(() => Promise.resolve(messages > 0))]);
  await Promise.race([reading, delay(silenceMs)]);
  ending.abort();
}

/** Returns the names of the silent streams that end, although they are alive. */
async function endedStreams({ address, key }: ProbeTarget): Promise<readonly string[]> {
  const door = openDoor("grpc", address, key);
  const streams = {
    "live over gRPC": silencePasses({ address, key }, "grpc", silenceMs),
    "live over WebSocket": silencePasses({ address, key }, "WebSocket", silenceMs),
    "a watch of health over gRPC": staysOpen((signal) =>
      createClient(Health, door).watch({}, { signal }),
    ),
    "a watch of transcripts over gRPC": staysOpen((signal) =>
      createClient(Transcripts, door).watchTranscripts({}, { signal }),
    ),
    "a watch of transcripts over REST": staysOpen(async function* (signal) {
      const headers = { authorization: `Bearer ${key}` };
      const url = `${address}/v1alpha1/transcripts:watch`;
      const { body } = await fetch(url, { headers, signal });
      yield* body ?? [];
    }),
  };
  const ends = await Promise.allSettled(Object.values(streams));
  return Object.keys(streams).filter((_, at) => ends[at]?.status === "rejected");
}

for (const [name, { host, open, times, forWatches }] of Object.entries(proxies)) {
  /** Returns what ends behind a proxy with these times in place of its own. */
  const endedWith = async (folderName: string, given: Readonly<Record<string, string>>) => {
    const { host: node } = new URL(service.address);
    const replacements = { "10.0.0.11:8080": node, "10.0.0.12:8080": node, ...given };
    const place = { folder: join(folder, folderName), host, port: await freePort(), certificate };
    await using opened = await open({ ...place, replacements });
    const { address } = opened;
    await until(async () => (await fetch(`${address}/readyz`)).status === 200);
    return await endedStreams({ address, key: service.key });
  };

  test(`no timeout of ${name} ends a stream that is alive`, { timeout: 180_000 }, async () => {
    const [ended, endedByAll] = await Promise.all([
      endedWith(name, times),
      endedWith(`${name}-all`, { ...times, ...forWatches }),
    ]);
    assert.deepEqual(ended, []);
    // The time for watches is the only one that ends them, and it ends nothing else.
    const watches = Object.keys(forWatches).length === 0 ? 0 : 3;
    assert.equal(endedByAll.length, watches, endedByAll.join());
    assert.ok(endedByAll.every((stream) => stream.startsWith("a watch")));
  });
}
