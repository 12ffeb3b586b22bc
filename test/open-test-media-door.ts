import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { Agent, createServer, request as httpRequest } from "node:http";
import { connect, createServer as createHttp2Server, type ClientHttp2Session } from "node:http2";
import type { Server } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { decodedSampleRate } from "../src/audio/decode.ts";
import { waveformJson } from "../src/audio/waveform.ts";
import { findWaveform } from "../src/media/media-facts.ts";
import { answerFailure, targetOf, type HttpListener } from "../src/server/http.ts";
import { createMediaDoor } from "../src/server/media-door.ts";
import { createLog } from "../src/std/log.ts";
import { ServiceError } from "../src/std/service-error.ts";
import {
  metadataWith,
  openTestTranscripts,
  type TestTranscripts,
} from "./open-test-transcripts.ts";

export const protocols = ["HTTP/1.1", "HTTP/2"] as const;
export type Protocol = (typeof protocols)[number];

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable;
}

/** The media door on real sockets of both protocols, with a transcripts service of its own beside it. */
export interface TestMediaDoor extends AsyncDisposable {
  readonly app: TestTranscripts;
  readonly bases: Readonly<Record<Protocol, string>>;
  readonly send: (protocol: Protocol, method: string, url: string, sent?: Sent) => Promise<Answer>;
  /** A transcript and the URL that takes its media. */
  readonly newUpload: () => Promise<{ name: string; url: string }>;
  readonly mediaCount: () => Promise<number>;
  /** Resolves when so many puts are being written. */
  readonly untilWriting: (count: number) => Promise<void>;
  /** Waits until every call has ended, then compares what is kept with what is recorded. */
  readonly assertNothingLeft: (mediaCount: number) => Promise<void>;
}

export async function openTestMediaDoor(
  limits: { readonly uploadMsMax?: number } = {},
): Promise<TestMediaDoor> {
  await using opened = new AsyncDisposableStack();
  const app = opened.use(await openTestTranscripts());
  const door = createMediaDoor({
    ...app,
    async findWaveform(id) {
      const waveform = await findWaveform(app.db, id);
      return waveform && waveformJson({ ...waveform, sampleRate: decodedSampleRate });
    },
    log: createLog("silent"),
    idleMsMax: 400,
    ...limits,
  });
  const calls = new Set<Promise<void>>();
  const listener: HttpListener = (request, response) => {
    assert.ok(door.handles(targetOf(request)));
    const call = door.handle(request, response).catch((error: unknown) => {
      const isKnown = error instanceof ServiceError;
      answerFailure(response, isKnown ? error : new ServiceError("internal", String(error)));
    });
    calls.add(call);
    void call.finally(() => calls.delete(call));
  };
  const http1 = createServer(listener).on("checkContinue", listener);
  const http2 = createHttp2Server(listener).on("checkContinue", listener);
  const bases = { "HTTP/1.1": await listen(http1), "HTTP/2": await listen(http2) };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const session = connect(bases["HTTP/2"]);
  opened.defer(() => {
    agent.destroy();
    session.destroy();
    http1.closeAllConnections();
    http1.close();
    http2.close();
  });
  app.publicUrl = bases["HTTP/1.1"];
  const unfinished = async () => (await readdir(join(app.mediaFolder, "unfinished"))).length;
  const mediaRows = async () => await app.db.selectFrom("media").select("id").execute();
  const parts = opened.move();
  return {
    app,
    bases,
    async send(protocol, method, url, sent = {}) {
      const { pathname, search } = new URL(url);
      const target = { method, path: pathname + search };
      return protocol === "HTTP/2"
        ? await send2(session, target, sent)
        : await send1(agent, { ...target, port: new URL(bases[protocol]).port }, sent);
    },
    async newUpload() {
      const name = await app.client.create({ metadata: metadataWith() });
      const { storageSignedUrl: url } = await app.client.initUpload(name);
      return { name, url };
    },
    mediaCount: async () => (await mediaRows()).length,
    async untilWriting(count) {
      while ((await unfinished()) !== count) await new Promise((resolve) => setImmediate(resolve));
    },
    async assertNothingLeft(count) {
      while (calls.size > 0) await Promise.all(calls);
      const kept: string[] = [];
      for await (const { id } of app.store.list()) kept.push(id);
      const recorded = (await mediaRows()).map(({ id }) => id);
      assert.deepEqual(kept.toSorted(), recorded.toSorted());
      assert.equal(recorded.length, count);
      assert.equal(await unfinished(), 0);
    },
    [Symbol.asyncDispose]: async () => await parts.disposeAsync(),
  };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

async function send1(
  agent: Agent,
  target: { readonly method: string; readonly path: string; readonly port: string },
  { headers, body }: Sent,
): Promise<Answer> {
  const length = Buffer.isBuffer(body) ? { "content-length": `${body.length}` } : {};
  const request = httpRequest({ ...target, agent, headers: { ...length, ...headers } });
  const answered = once(request, "response");
  if (body instanceof Readable) body.pipe(request);
  else request.end(body);
  const [response] = await answered;
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

async function send2(
  session: ClientHttp2Session,
  target: { readonly method: string; readonly path: string },
  { headers, body }: Sent,
): Promise<Answer> {
  const length = Buffer.isBuffer(body) ? { "content-length": `${body.length}` } : {};
  const stream = session.request(
    { ":method": target.method, ":path": target.path, ...length, ...headers },
    { endStream: body === undefined },
  );
  const answered = once(stream, "response");
  if (body instanceof Readable) body.pipe(stream);
  else if (body) stream.end(body);
  const [{ ":status": status, ...rest }] = await answered;
  return { status, headers: rest, body: await buffer(stream) };
}

/** The start of a WAV file, then bytes that differ from place to place. */
export function wav(size: number): Buffer {
  const bytes = Buffer.from(Array.from({ length: size }, (_, index) => (index * 31) & 0xff));
  bytes.write("RIFF----WAVEfmt ");
  return bytes;
}

/** ErrorInfo.reason of a refused call. */
export function reasonOf(answer: Answer): unknown {
  return JSON.parse(answer.body.toString()).error.details[0].reason;
}
