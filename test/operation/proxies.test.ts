// HAProxy, nginx and Caddy with the configurations of docs/operations, in front of a service: every
// gRPC service, WebSockets, media, the caller's address and health. PROXY_MEDIA_MB=1024 sends more
// media than the 64 MB of the gate, and PROXY_STREAM_MINUTES=60 lets live streams last that long.
import assert from "node:assert/strict";
import { createHash, randomBytes, randomInt, type Hash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:http2";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, before, describe, test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openDoor } from "../fault/open-door.ts";
import { startService, type ServiceProcess } from "../fault/process.ts";
import {
  callerIsSeen,
  earlyRefusalPasses,
  longStreamPasses,
  pageSocketOpens,
  silencePasses,
  type ProbeTarget,
} from "../fault/proxy-probes.ts";
import { freePort } from "../fixtures/free-port.ts";
import { openTestCaddy } from "../fixtures/open-test-caddy.ts";
import { openTestHaproxy } from "../fixtures/open-test-haproxy.ts";
import { openTestNginx } from "../fixtures/open-test-nginx.ts";
import { trustedCertificate, type Certificate } from "../fixtures/trusted-certificate.ts";
import { until } from "../fixtures/until.ts";
import { callRest } from "../spec/service.ts";

const mediaBytes = Number(process.env["PROXY_MEDIA_MB"] ?? 64) * 2 ** 20;
const streamMs = Number(process.env["PROXY_STREAM_MINUTES"] ?? 0) * 60_000;
const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
const folder = mkdtempSync(join(tmpdir(), "hlust-proxies-"));
const parts = new AsyncDisposableStack();
after(async () => {
  await parts.disposeAsync();
  rmSync(folder, { recursive: true, force: true });
});

const proxies = {
  HAProxy: { host: `${network}.1`, open: openTestHaproxy, keepsSending: false },
  nginx: { host: `${network}.2`, open: openTestNginx, keepsSending: false },
  // Caddy passes on an early answer when more of the body arrives.
  Caddy: { host: `${network}.3`, open: openTestCaddy, keepsSending: true },
} as const;

let certificate: Certificate;
let service: ServiceProcess;
let methods: readonly ServedMethods[];

before(async () => {
  const hosts = Object.values(proxies).map(({ host }) => host);
  certificate = await trustedCertificate(folder, hosts);
  const settings = { HLUST_ENGINE: "scripted", HLUST_TRUSTED_PROXIES: "127.0.0.1" };
  service = parts.use(await startService(join(folder, "data"), settings));
  methods = await servedMethods(service);
});

/** The paths of two methods of a service. */
interface ServedMethods {
  /** A method with one answer, if there is one. */
  readonly path: string;
  /** A method with a stream of answers; undefined if there is none. */
  readonly stream: string | undefined;
}

/** Returns methods of each service, as gRPC reflection describes them. */
async function servedMethods({ address, key }: ServiceProcess): Promise<readonly ServedMethods[]> {
  const reflection = createClient(ServerReflection, openDoor("grpc", address, key));
  const list = { messageRequest: { case: "listServices" as const, value: "" } };
  const services: string[] = [];
  for await (const { messageResponse } of reflection.serverReflectionInfo(Readable.from([list]))) {
    assert.equal(messageResponse.case, "listServicesResponse");
    if (messageResponse.case !== "listServicesResponse") continue;
    services.push(...messageResponse.value.service.map(({ name }) => name));
  }
  const ask = services.map((value) => ({
    messageRequest: { case: "fileContainingSymbol" as const, value },
  }));
  const found = new Map<string, ServedMethods>();
  for await (const { messageResponse } of reflection.serverReflectionInfo(Readable.from(ask))) {
    if (messageResponse.case !== "fileDescriptorResponse") continue;
    for (const bytes of messageResponse.value.fileDescriptorProto) {
      const file = fromBinary(FileDescriptorProtoSchema, bytes);
      for (const { name, method } of file.service) {
        const service = `${file.package}.${name}`;
        const stream = method.find(({ serverStreaming }) => serverStreaming);
        const single = method.find(({ serverStreaming }) => !serverStreaming) ?? stream;
        found.set(service, {
          path: `/${service}/${single?.name}`,
          stream: stream && `/${service}/${stream.name}`,
        });
      }
    }
  }
  return services.map((name) => found.get(name) ?? assert.fail(`${name} has no file`));
}

/** Calls a method with an empty message. Returns the status of HTTP, and that of gRPC. */
async function callOnce(
  { address, key }: ProbeTarget,
  path: string,
  type: "application/grpc" | "application/connect+proto",
): Promise<{ readonly status: unknown; readonly grpc: unknown }> {
  const session = connect(address);
  session.on("error", () => {});
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": type,
      te: "trailers",
      authorization: `Bearer ${key}`,
    });
    const answered = once(stream, "response");
    let grpc: unknown;
    stream.on("trailers", (trailers) => {
      grpc = trailers["grpc-status"];
    });
    stream.resume();
    stream.end(Buffer.alloc(5));
    const [headers] = await answered;
    if (type === "application/grpc") await once(stream, "end");
    return { status: headers[":status"], grpc: grpc ?? headers["grpc-status"] };
  } finally {
    session.destroy();
  }
}

/** Yields this many bytes, which do not compress, and adds them to a hash. */
async function* media(hash: Hash): AsyncGenerator<Buffer, void> {
  const block = randomBytes(1 << 20);
  for (let sent = 0; sent < mediaBytes; sent += block.length) {
    block.writeUInt32LE(sent / 2 ** 20);
    const bytes = Buffer.from(block);
    hash.update(bytes);
    yield bytes;
  }
}

/** Uploads media, and downloads the same bytes. */
async function mediaPasses({ address, key }: ProbeTarget): Promise<void> {
  const call = async (method: string, path: string, body?: unknown) => {
    const { status, json } = await callRest(address, key, { method, path, body });
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  };
  const body = { metadata: { languageCode: "en-US", fileType: "AUDIO", subject: "media" } };
  const { name } = await call("POST", "/v1alpha1/transcripts", body);
  const started = await call("POST", "/v1alpha1/initupload", { resourceName: name });
  const { pathname, search } = new URL(started.storageSignedUrl);
  const [sent, received] = [createHash("sha256"), createHash("sha256")];
  const put = request(`${address}${pathname}${search}`, {
    method: "PUT",
    headers: { "content-length": mediaBytes },
  });
  const answered = once(put, "response");
  await pipeline(media(sent), put);
  const [answer] = await answered;
  answer.resume();
  assert.equal(answer.statusCode, 200);
  const { uri } = await call("GET", `/v1alpha1/${name}`);
  const stored = new URL(uri);
  const got = await fetch(`${address}${stored.pathname}${stored.search}`);
  for await (const bytes of got.body ?? []) received.update(bytes);
  assert.equal(received.digest("hex"), sent.digest("hex"));
  await call("DELETE", `/v1alpha1/${name}`);
}

for (const [at, [name, { host, open, keepsSending }]] of Object.entries(proxies).entries()) {
  describe(name, { timeout: 600_000 + 2 * streamMs }, () => {
    let target: ProbeTarget;
    before(async () => {
      const { host: node } = new URL(service.address);
      const replacements = { "10.0.0.11:8080": node, "10.0.0.12:8080": node };
      const proxy = { folder: join(folder, name), host, port: await freePort(), certificate };
      const { address } = parts.use(await open({ ...proxy, replacements }));
      target = { address, key: service.key };
      await until(async () => (await fetch(`${address}/readyz`)).status === 200);
    });

    test("passes gRPC calls of every served service", async () => {
      const prefixes = new Set(methods.map(({ path }) => path.split(".")[0]));
      assert.deepEqual(prefixes, new Set(["/google", "/grpc", "/hlust", "/lr", "/tiro"]));
      for (const { path, stream } of methods) {
        const { status, grpc } = await callOnce(target, path, "application/grpc");
        assert.equal(status, 200, path);
        // UNIMPLEMENTED, INTERNAL and UNAVAILABLE would come from a proxy, or from another door.
        assert.match(String(grpc), /^(?!12$|13$|14$)\d+$/, path);
        if (stream === undefined) continue;
        // Streams of Connect over HTTP/1.1 are refused with 505.
        const connected = await callOnce(target, stream, "application/connect+proto");
        assert.equal(connected.status, 200, stream);
      }
    });

    test("passes live streams over WebSocket and gRPC", async () => {
      await silencePasses(target, "WebSocket", 500);
      await longStreamPasses(target);
      await pageSocketOpens(target);
    });

    if (streamMs > 0) {
      test("passes live streams that last, with long silences", async () => {
        const doors = ["grpc", "WebSocket"] as const;
        await Promise.all(doors.map((door) => silencePasses(target, door, streamMs / 4, 4)));
      });
    }

    test("passes uploads and downloads", () => mediaPasses(target));

    test("passes a refusal before the body of an upload", () =>
      earlyRefusalPasses(target, { keepsSending }));

    test("passes the address of the caller", () => callerIsSeen(target, `${network}.2${at}`));

    test("passes health over HTTP and gRPC", async () => {
      for (const path of [
        "/healthz",
        "/startupz",
        "/readyz?for=speech",
        "/readyz?for=transcripts",
      ]) {
        assert.equal((await fetch(`${target.address}${path}`)).status, 200, path);
      }
      const health = createClient(Health, openDoor("grpc", target.address, target.key));
      for (const checked of ["", "hlust.speech.v2beta1.Speech", "google.cloud.speech.v1.Speech"]) {
        assert.equal((await health.check({ service: checked })).status, Status.SERVING, checked);
      }
    });
  });
}

test(
  "Caddy sends no more calls to a node that shuts down, before the node refuses them",
  { timeout: 600_000 },
  async () => {
    const { open, host } = proxies.Caddy;
    const leaving = { HLUST_ENGINE: "scripted", HLUST_DRAIN_DELAY: "10m" };
    await using other = await startService(join(folder, "other"), leaving);
    // The second signal ends the delay.
    using ending = new DisposableStack();
    ending.defer(() => other.child.kill("SIGTERM"));
    const hosts = [service, other].map(({ address }) => new URL(address).host);
    const [first = "", second = ""] = hosts;
    const replacements = { "10.0.0.11:8080": first, "10.0.0.12:8080": second };
    await using caddy = await open({
      folder: join(folder, "two-nodes"),
      host,
      port: await freePort(),
      certificate,
      replacements,
    });
    // Each node has an archive of its own, so the other one knows no such key.
    const doors = (["grpc", "connect/1.1"] as const).map((protocol) => {
      const client = createClient(Transcripts, openDoor(protocol, caddy.address, service.key));
      return async () =>
        await client.listTranscripts({}).then(
          () => true,
          () => false,
        );
    });
    const rest = async () => {
      const headers = { authorization: `Bearer ${service.key}` };
      return (await fetch(`${caddy.address}/v1alpha1/transcripts`, { headers })).ok;
    };
    for (const call of [rest, ...doors]) {
      await until(async () => await call());
      await until(async () => !(await call()));
    }
    other.child.kill("SIGTERM");
    for (const call of [rest, ...doors]) {
      await until(async () => {
        for (let time = 0; time < 20; time += 1) if (!(await call())) return false;
        return true;
      });
    }
    assert.notEqual((await fetch(`${other.address}/v1/models`)).status, 503, "it answers calls");
  },
);
