// Probes for requests that proxies break without the right configuration. Each probe sends requests
// through one proxy to a healthy node.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { SecureClientSessionOptions } from "node:http2";
import { request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { WebSocket } from "ws";
import { createHlustClient } from "../../src/client/hlust-client.ts";
import { recognizeLive } from "../../src/client/recognize-live.ts";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  Speech,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { callRest } from "../spec/service.ts";
import { streamPath } from "../spec/stream.ts";
import { within } from "../fixtures/until.ts";
import { openDoor } from "./open-door.ts";

export interface ProbeTarget {
  /** The address of a proxy. */
  readonly address: string;
  readonly key: string;
}

const bytesPerMs = 32;
const config = {
  encoding: Encoding.LINEAR16,
  sampleRateHertz: 16_000,
  languageCode: "en-US",
} as const;

/** Uploads 3 MB of media and reads the same bytes back. */
export async function bigUploadPasses({ address, key }: ProbeTarget): Promise<void> {
  const bytes = Buffer.alloc(3 << 20, "media ");
  const draft = { metadata: { languageCode: "en-US", fileType: "AUDIO", subject: "big" } };
  const path = "/v1alpha1/transcripts";
  const made = await callRest(address, key, { method: "POST", path, body: draft });
  assert.equal(made.status, 200, JSON.stringify(made.json));
  const { name } = made.json;
  const started = await callRest(address, key, {
    method: "POST",
    path: "/v1alpha1/initupload",
    body: { resourceName: name },
  });
  // Signed URLs contain the address of the proxy in HLUST_PUBLIC_URL; every other proxy also
  // accepts them.
  const { pathname, search } = new URL(started.json.storageSignedUrl);
  const put = await fetch(`${address}${pathname}${search}`, { method: "PUT", body: bytes });
  assert.equal(put.status, 200, await put.text());
  const { json } = await callRest(address, key, { method: "GET", path: `/v1alpha1/${name}` });
  const media = new URL(json.uri);
  const got = await fetch(`${address}${media.pathname}${media.search}`);
  assert.ok(bytes.equals(Buffer.from(await got.arrayBuffer())), "the media that was put");
  const removed = await callRest(address, key, { method: "DELETE", path: `/v1alpha1/${name}` });
  assert.equal(removed.status, 200);
}

/**
 * Asserts that a request that is refused because of its headers gets its response before its body
 * is sent: the proxy does not wait for the end of the body. With `keepsSending`, more of the body
 * is sent meanwhile.
 */
export async function earlyRefusalPasses(
  { address, key }: ProbeTarget,
  { keepsSending = false } = {},
): Promise<void> {
  const start = { method: "POST", path: "/v1alpha1/initupload", body: {} };
  const started = await callRest(address, key, start);
  const { pathname, search } = new URL(started.json.storageSignedUrl);
  const put = request(`${address}${pathname}${search}x`, { method: "PUT" });
  put.on("error", () => {});
  put.write(Buffer.alloc(1_000));
  const sending = keepsSending && setInterval(() => put.write(Buffer.alloc(1 << 16)), 50);
  put.once("response", () => sending && clearInterval(sending));
  const [response] = await within("a refusal before the body", once(put, "response"));
  assert.equal(response.statusCode, 403);
  put.destroy();
}

/** Sends 40 s of audio (1.3 MB) on one gRPC stream. */
export async function longStreamPasses({ address, key }: ProbeTarget): Promise<void> {
  async function* audio(): AsyncGenerator<Uint8Array, void> {
    for (let second = 0; second < 40; second += 1) {
      const samples = new Int16Array(16_000).fill(1_000, 0, 8_000);
      yield new Uint8Array(samples.buffer);
    }
  }
  const speech = createClient(Speech, openDoor("grpc", address, key));
  const results = await Array.fromAsync(recognizeLive(speech, { config }, audio()));
  assert.ok(results.filter(({ isFinal }) => isFinal).length > 30);
}

/** Sends only silence over a stream for this long, and then a word; all of it `times` times. */
export async function silencePasses(
  { address, key }: ProbeTarget,
  door: "grpc" | "WebSocket",
  silenceMs: number,
  times = 1,
): Promise<void> {
  const chunkMs = 250;
  async function* audio(): AsyncGenerator<Uint8Array, void> {
    for (let time = 0; time < times; time += 1) {
      for (let sentMs = 0; sentMs < silenceMs; sentMs += chunkMs) {
        yield new Uint8Array(chunkMs * bytesPerMs);
        await delay(chunkMs);
      }
      yield new Uint8Array(new Int16Array(8_000).fill(1_000).buffer);
    }
  }
  const speech =
    door === "grpc"
      ? createClient(Speech, openDoor("grpc", address, key))
      : createHlustClient({ url: address, token: key }).speech;
  const results = await Array.fromAsync(recognizeLive(speech, { config }, audio()));
  const finals = results.filter(({ isFinal }) => isFinal);
  assert.deepEqual(
    finals.map(({ alternatives }) => alternatives[0]?.transcript),
    Array.from({ length: times }, () => "word1 "),
    door,
  );
}

/** Opens the socket of a page from the proxy's own origin, whatever HLUST_PUBLIC_URL is. */
export async function pageSocketOpens({ address, key }: ProbeTarget): Promise<void> {
  const url = `${address.replace("https", "wss")}${streamPath}`;
  const socket = new WebSocket(url, ["Bearer", key], { origin: address });
  await once(socket, "open");
  assert.equal(socket.protocol, "Bearer");
  socket.terminate();
}

/**
 * Asserts that the audit log contains the address of the caller instead of the proxy's, over REST
 * and gRPC, and whatever address the caller claims itself.
 */
export async function callerIsSeen(
  { address, key }: ProbeTarget,
  callerAddress: string,
): Promise<void> {
  const claimed = { "x-forwarded-for": "203.0.113.7" };
  const lastAddress = async (): Promise<unknown> => {
    const path = "/v1/auditEvents?pageSize=1";
    const { json } = await callRest(address, key, { method: "GET", path });
    return json.auditEvents[0].address;
  };
  const newKey = { displayName: "of the caller", scopes: ["speech"] };
  for (const headers of [{}, claimed]) {
    const call = request(`${address}/v1/apiKeys`, {
      method: "POST",
      localAddress: callerAddress,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...headers,
      },
    });
    call.end(JSON.stringify(newKey));
    const [response] = await once(call, "response");
    response.resume();
    assert.equal(response.statusCode, 200);
    assert.equal(await lastAddress(), callerAddress, "REST");
  }
  // The address of the call before would pass for that of the next one.
  await callRest(address, key, { method: "POST", path: "/v1/apiKeys", body: newKey });
  assert.notEqual(await lastAddress(), callerAddress);
  const transport = createGrpcTransport({ baseUrl: address, nodeOptions: from(callerAddress) });
  const headers = { authorization: `Bearer ${key}`, ...claimed };
  await createClient(Accounts, transport).createApiKey(newKey, { headers });
  assert.equal(await lastAddress(), callerAddress, "gRPC");
}

/** Returns options of a connection over HTTP/2 that begins at this address. */
function from(localAddress: string): SecureClientSessionOptions {
  // They are passed on to tls.connect(), whose types have it for sockets of node:net only.
  const options: SecureClientSessionOptions & { readonly localAddress: string } = { localAddress };
  return options;
}
