// TLS on the port of the service (HLUST_TLS_CERTIFICATE): every protocol by real clients, the
// handshakes that are refused, and certificates that cannot be served.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { get } from "node:https";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { Client, credentials } from "@grpc/grpc-js";
import { createHlustClient } from "../../src/client/hlust-client.ts";
import { recognizeLive } from "../../src/client/recognize-live.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openDoor } from "../fault/open-door.ts";
import { startService } from "../fault/process.ts";
import { openTestAuthority } from "../fixtures/test-authority.ts";
import type { Certificate } from "../fixtures/trusted-certificate.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { until } from "../fixtures/until.ts";
import { config, oneSecond, openSocket, servedName, settings, tlsOf } from "./tls-streams.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-tls-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
const authority = await openTestAuthority(join(folder, "ca"));
const first = await authority.issue("first", { key: "rsa" });
/** Only ends what hangs. */
const timeoutMs = 300_000;

const data = (name: string) => {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
};

interface Handshake {
  readonly isDone: boolean;
  readonly out: string;
}

/** Does a handshake with openssl, and sends `input` after it. */
async function handshake(
  address: string,
  options: readonly string[],
  input = "",
): Promise<Handshake> {
  const { host } = new URL(address);
  const args = ["s_client", "-connect", host, "-CAfile", authority.certificate, ...options];
  return await new Promise((resolve) => {
    const child = execFile("openssl", args, { timeout: 60_000 }, (error, out, errors) => {
      resolve({ isDone: error === null && !/^New, \(NONE\)/m.test(out), out: `${out}${errors}` });
    });
    // openssl may end before it has read anything.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

const finalsOver = async (results: AsyncIterable<{ readonly isFinal: boolean }>) =>
  (await Array.fromAsync(results)).filter(({ isFinal }) => isFinal).length;

async function* audio(seconds: number): AsyncGenerator<Uint8Array, void> {
  for (let second = 0; second < seconds; second += 1) yield oneSecond;
}

/** A folder with the files of a certificate, which are written again in place. */
function openFiles() {
  const own = data("files");
  const files = { certificate: join(own, "c.pem"), key: join(own, "k.pem") };
  const put = ({ certificate, key }: Certificate) => {
    writeFileSync(files.certificate, readFileSync(certificate));
    writeFileSync(files.key, readFileSync(key));
  };
  put(first);
  return { files, put };
}

test("every protocol works over TLS on one port", { timeout: timeoutMs }, async (context) => {
  const { files, put } = openFiles();
  await using service = await startService(data("protocols"), { ...settings, ...tlsOf(files) });
  const { address, key } = service;
  const bearer = { authorization: `Bearer ${key}` };
  assert.match(address, /^https:/);

  await context.test("HTTP/1.1 and HTTP/2, by ALPN", async () => {
    const [response] = await once(get(`${address}/healthz`), "response");
    assert.equal(response.httpVersion, "1.1");
    assert.deepEqual(JSON.parse(await text(response)), { status: "ok" });
    const session = connectHttp2(address);
    const stream = session.request({ ":path": "/v1alpha1/transcripts", ...bearer });
    const [headers] = await once(stream, "response");
    assert.equal(headers[":status"], 200);
    assert.equal(session.alpnProtocol, "h2");
    assert.ok("transcripts" in JSON.parse(await text(stream)));
    session.close();
  });

  await context.test("REST and live streams of the project's client", async () => {
    const client = createHlustClient({ url: address, token: key });
    assert.deepEqual((await client.transcripts.listTranscripts({})).transcripts, []);
    assert.ok((await finalsOver(client.recognizeLive({ config }, audio(3)))) > 0);
  });

  for (const protocol of [
    "grpc",
    "grpc-web/1.1",
    "grpc-web/2",
    "connect/1.1",
    "connect/2",
  ] as const) {
    await context.test(protocol, async () => {
      const door = openDoor(protocol, address, key);
      const { transcripts } = await createClient(Transcripts, door).listTranscripts({});
      assert.deepEqual(transcripts, []);
    });
  }

  await context.test("a live stream over gRPC", async () => {
    const client = createClient(Speech, openDoor("grpc", address, key));
    assert.ok((await finalsOver(recognizeLive(client, { config }, audio(3)))) > 0);
  });

  await context.test("gRPC's own library", async () => {
    const trusted = credentials.createSsl(readFileSync(authority.certificate));
    const names = { "grpc.ssl_target_name_override": "localhost" };
    const client = new Client(new URL(address).host, trusted, names);
    const call = Promise.withResolvers<Buffer>();
    client.makeUnaryRequest(
      "/grpc.health.v1.Health/Check",
      (value: Buffer) => value,
      (value: Buffer) => value,
      Buffer.alloc(0),
      (error, value) => (value ? call.resolve(value) : call.reject(error ?? new Error("nothing"))),
    );
    assert.deepEqual([...(await call.promise)], [8, 1], "status: SERVING");
    client.close();
  });

  await context.test("uploads and downloads of several megabytes", async () => {
    const bytes = Buffer.alloc(5 << 20, "media ");
    const headers = { ...bearer, "content-type": "application/json" };
    const post = async (path: string, body: object): Promise<unknown> => {
      const call = { method: "POST", headers, body: JSON.stringify(body) };
      return await (await fetch(`${address}/v1alpha1/${path}`, call)).json();
    };
    const metadata = { languageCode: "is-IS", fileType: "AUDIO", subject: "media" };
    const made = await post("transcripts", { metadata });
    const resourceName = Reflect.get(Object(made), "name");
    const started = await post("initupload", { resourceName });
    const url = String(Reflect.get(Object(started), "storageSignedUrl"));
    assert.ok(url.startsWith(address), "signed URLs have https://");
    assert.equal((await fetch(url, { method: "PUT", body: bytes })).status, 200);
    const transcript = `${address}/v1alpha1/${String(resourceName)}`;
    const stored: unknown = await (await fetch(transcript, { headers: bearer })).json();
    const got = await fetch(String(Reflect.get(Object(stored), "uri")));
    assert.ok(bytes.equals(Buffer.from(await got.arrayBuffer())));
  });

  await context.test("`hlust healthcheck` with the settings of the service", async () => {
    const { port } = new URL(address);
    const checked = await runHlust(["healthcheck"], { HLUST_PORT: port, ...tlsOf(files) });
    assert.deepEqual([checked.code, checked.errors], [0, ""]);
    const cleartext = await runHlust(["healthcheck"], { HLUST_PORT: port });
    assert.equal(cleartext.code, 1);
  });

  await context.test("handshakes are modern", () => handshakesAreModern(address));
  await context.test("other handshakes and cleartext are refused", () => othersAreRefused(address));

  await context.test("a new certificate that is bad changes nothing until it is good", async () => {
    const second = await authority.issue("second");
    const end = await openSocket(service);
    writeFileSync(files.certificate, readFileSync(second.certificate, "utf8").slice(0, 300));
    const warned =
      /"level":"warn".*HLUST_TLS_CERTIFICATE: \S+c.pem is incomplete.*"event":"tls.certificate_refused"/;
    await until(async () => warned.test(service.output().errors), 60_000);
    assert.equal(await servedName(address), "first");
    put(second);
    await until(async () => (await servedName(address)) === "second", 60_000);
    assert.ok((await end()) > 0);
    assert.match(
      service.output().errors,
      /"expiresAt":"\d{4}-.*"event":"tls.certificate_loaded"/,
      "the log says when the certificate ends",
    );
  });
});

async function handshakesAreModern(address: string): Promise<void> {
  const done: [options: string[], shown: RegExp][] = [
    [["-tls1_3", "-alpn", "h2,http/1.1"], /New, TLSv1.3.* ALPN protocol: h2/],
    [["-tls1_3", "-alpn", "http/1.1"], /ALPN protocol: http\/1.1/],
    [["-tls1_2", "-alpn", "h2"], /New, TLSv1.2, Cipher is ECDHE-RSA-.* ALPN protocol: h2/],
    [["-tls1_2"], /No ALPN negotiated/],
  ];
  for (const [options, shown] of done) {
    const { isDone, out } = await handshake(address, options);
    assert.ok(isDone, `${options.join(" ")}: ${out}`);
    assert.match(out.replaceAll("\n", " "), shown);
    assert.match(out, /Verify return code: 0 \(ok\)/);
    assert.match(out, /Compression: NONE/);
  }
}

async function othersAreRefused(address: string): Promise<void> {
  const refused: string[][] = [
    ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"],
    ["-tls1", "-cipher", "DEFAULT@SECLEVEL=0"],
    // Neither forward secrecy nor authenticated encryption.
    ["-tls1_2", "-cipher", "AES128-SHA256"],
    ["-tls1_2", "-cipher", "AES128-GCM-SHA256"],
    ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA256"],
    ["-tls1_3", "-alpn", "smtp"],
  ];
  for (const options of refused) {
    const { isDone, out } = await handshake(address, options);
    assert.ok(!isDone, `${options.join(" ")}: ${out}`);
  }
  // "R" asks for a renegotiation, which lets clients cost the service a handshake again and again.
  const { out } = await handshake(address, ["-tls1_2"], "R\n");
  assert.match(out, /no renegotiation/);

  // The port says what it needs.
  const socket = connectTcp(Number(new URL(address).port), "127.0.0.1");
  socket.write("GET /healthz HTTP/1.1\r\nHost: hlust\r\n\r\n");
  const answer = await text(socket);
  assert.match(answer, /^HTTP\/1\.1 400 .*\r\n/);
  assert.match(answer, /this port needs TLS.*TLS_REQUIRED/);
  assert.equal((await fetch(`${address}/healthz`)).status, 200);
}

test(
  "a service with a bad certificate does not start, and says why",
  { timeout: timeoutMs },
  async () => {
    const second = await authority.issue("second-key");
    const expired = await authority.issue("expired", { at: "10 days ago", days: 5 });
    const half = join(folder, "half.pem");
    writeFileSync(half, readFileSync(first.certificate, "utf8").slice(0, 400));
    const rows: [files: Record<string, string>, problem: RegExp][] = [
      [
        tlsOf({ ...first, key: second.key }),
        /HLUST_TLS_CERTIFICATE: .*first.pem belongs to another key/,
      ],
      [tlsOf(expired), /HLUST_TLS_CERTIFICATE: .*expired.pem expired at/],
      [tlsOf({ ...first, certificate: half }), /HLUST_TLS_CERTIFICATE: .*half.pem is incomplete/],
      [
        tlsOf({ ...first, key: "/no/such.key" }),
        /HLUST_TLS_KEY: \/no\/such.key cannot be read: ENOENT/,
      ],
      [
        { HLUST_TLS_KEY: first.key },
        /HLUST_TLS_CERTIFICATE and HLUST_TLS_KEY must be set together/,
      ],
    ];
    for (const [index, [files, problem]] of rows.entries()) {
      const environment = {
        HLUST_DATA: join(folder, `refused-${index}`),
        HLUST_PORT: "0",
        ...files,
      };
      const { code, out, errors } = await runHlust(["serve"], environment);
      assert.equal(code, 2, errors);
      assert.match(errors, problem);
      assert.doesNotMatch(`${out}${errors}`, /ready|PRIVATE KEY|    at /);
    }
  },
);
