// Libraries of Google's clients: gRPC-Web in its text mode, in a browser, and the REST library that
// all of googleapis shares.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { fromBinary, type DescMessage } from "@bufbuild/protobuf";
import { createAPIRequest } from "googleapis-common";
import type { Browser, Page } from "playwright-core";
import {
  ListTranscriptsResponseSchema,
  TranscriptJobSchema,
  TranscriptJob_State as State,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openBrowser } from "../fixtures/open-browser.ts";
import { speak } from "../fixtures/flite.ts";
import { submit } from "../spec/jobs.ts";
import { openMediaHost, type MediaHost } from "../spec/media-host.ts";
import { openTestService, pcmOf, type TestService } from "../spec/service.ts";
import { draftOf } from "../spec/transcripts.ts";
import type { Message } from "./original-client.ts";

const recording = speak("thank you very much for your letter");
let service: TestService;
let host: MediaHost;
let browser: Browser;
let page: Page;

before(async () => {
  host = await openMediaHost({ "/letter.wav": recording });
  service = await openTestService();
  await service.call("POST", "/v1alpha1/transcripts", draftOf("Ávarp"));
  browser = await openBrowser();
  page = await browser.newPage();
  // A page of the service's own origin, without a policy that forbids scripts.
  await page.goto(`${service.address}/healthz`);
  const library = readFileSync(createRequire(import.meta.url).resolve("grpc-web"), "utf8");
  await page.addScriptTag({ content: `var exports = {}; ${library}; window.grpcWeb = exports;` });
});
after(async () => {
  await browser.close();
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

/** Calls a method with grpc-web in text mode. Returns the messages as bytes, and the status. */
async function callInPage(
  name: string,
  kind: "unary" | "server_streaming",
  request: readonly number[],
): Promise<{ messages: Buffer[]; status: number }> {
  const url = `${service.address}/hlust.transcripts.v1alpha1.Transcripts/${name}`;
  const given = { url, kind, request, token: service.key };
  const answer: Message = await page.evaluate(async ({ url, kind, request, token }) => {
    const { GrpcWebClientBase, MethodDescriptor } = Reflect.get(globalThis, "grpcWeb");
    const client = new GrpcWebClientBase({ format: "text" });
    const method = new MethodDescriptor(
      new URL(url).pathname,
      kind,
      Object,
      Object,
      () => new Uint8Array(request),
      (bytes: Uint8Array) => Array.from(bytes),
    );
    const headers = { authorization: `Bearer ${token}` };
    return await new Promise((resolve) => {
      const messages: number[][] = [];
      let status = 0;
      if (kind === "unary") {
        client.rpcCall(
          url,
          {},
          headers,
          method,
          (error: { code: number } | null, message: number[]) => {
            resolve({ messages: error ? [] : [message], status: error?.code ?? 0 });
          },
        );
        return;
      }
      const stream = client.serverStreaming(url, {}, headers, method);
      stream.on("data", (message: number[]) => messages.push(message));
      stream.on("error", (error: { code: number }) => resolve({ messages, status: error.code }));
      stream.on("status", ({ code }: { code: number }) => (status = code));
      stream.on("end", () => resolve({ messages, status }));
    });
  }, given);
  return {
    messages: answer.messages.map((bytes: number[]) => Buffer.from(bytes)),
    status: answer.status,
  };
}

/** Encodes a message whose field 1 is a string. */
function named(name: string): number[] {
  return [0x0a, name.length, ...Buffer.from(name)];
}

function read<Desc extends DescMessage>(schema: Desc, bytes: Buffer | undefined) {
  assert.ok(bytes);
  return fromBinary(schema, bytes);
}

test("grpc-web in text mode calls a method, and gets its errors", async () => {
  const { messages, status } = await callInPage("ListTranscripts", "unary", []);
  assert.equal(status, 0);
  const { transcripts } = read(ListTranscriptsResponseSchema, messages[0]);
  assert.equal(transcripts[0]?.metadata?.subject, "Ávarp");
  const missing = await callInPage("GetTranscript", "unary", named("transcripts/x"));
  assert.deepEqual([missing.messages, missing.status], [[], 5]);
});

test("grpc-web in text mode gets the messages of a stream while they are sent", async () => {
  const { name } = (await submit(service, `${host.address}/letter.wav`)).json;
  const { messages, status } = await callInPage(
    "WatchTranscriptJob",
    "server_streaming",
    named(name),
  );
  const states = messages.map((bytes) => read(TranscriptJobSchema, bytes).state);
  assert.deepEqual([status, states.at(-1)], [0, State.SUCCESS]);
  assert.ok(states.length > 1);
});

test("the REST library of googleapis recognizes speech with an API key", async () => {
  const { data, config } = await createAPIRequest<Message>({
    options: { url: `${service.address}/v1/speech:recognize`, method: "POST" },
    params: {
      auth: service.key,
      requestBody: {
        config: {
          encoding: "LINEAR16",
          sampleRateHertz: 16_000,
          languageCode: "en-US",
          model: "latest_short",
        },
        audio: { content: pcmOf(recording).toString("base64") },
      },
    },
    requiredParams: [],
    pathParams: [],
    context: { _options: {} },
  });
  assert.match(String(config.url), /key=/, "the library sends the key in the query");
  assert.match(data.results[0].alternatives[0].transcript, /letter/);
});
