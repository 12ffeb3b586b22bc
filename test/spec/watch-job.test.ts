// WatchTranscriptJob (extension) on every protocol, compared with polling (§4.2).
import assert from "node:assert/strict";
import type { RequestListener, ServerResponse } from "node:http";
import { after, before, test } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { openBrowser } from "../fixtures/open-browser.ts";
import { createHlustClient } from "../../src/client/hlust-client.ts";
import {
  TranscriptJob_State as State,
  TranscriptJobSchema,
  Transcripts,
  type TranscriptJob,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { speak } from "../fixtures/flite.ts";
import { until } from "../fixtures/until.ts";
import { submit } from "./jobs.ts";
import { openMediaHost, type MediaHost } from "./media-host.ts";
import { callRest, openTestService, type Answer, type TestService } from "./service.ts";

let service: TestService;
let host: MediaHost;
/** The requests for media that have no response yet, by path. */
const held = new Map<string, ServerResponse>();
const paths = ["/0.wav", "/1.wav", "/2.wav", "/3.wav", "/4.wav", "/5.wav"];
const wav = speak("any words will do here");

before(async () => {
  const hold: RequestListener = ({ url = "" }, response) => void held.set(url, response);
  host = await openMediaHost(Object.fromEntries(paths.map((path) => [path, hold])));
  service = await openTestService({ HLUST_ENGINE: "scripted" });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

/** Submits a job that waits for its media, and returns a function that releases the media. */
async function begin(): Promise<{ name: string; release: () => Promise<void> }> {
  const path = paths.shift() ?? "";
  const { json } = await submit(service, host.address + path);
  const release = async (): Promise<void> => {
    await until(() => Promise.resolve(held.has(path)));
    held.get(path)?.end(wav);
  };
  return { name: json.name, release };
}

async function poll(name: string): Promise<Answer["json"]> {
  return (await service.call("GET", `/v1alpha1/${name}`)).json;
}

function watch(name: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${service.address}/v1alpha1/${name}:watch`, {
    headers: { authorization: `Bearer ${service.key}`, ...headers },
  });
}

/** Yields the parts of a body as they arrive, each with its separator. */
async function* partsOf(response: Response, end: string): AsyncGenerator<string, void> {
  let text = "";
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += chunk;
    for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end)) {
      yield text.slice(0, at);
      text = text.slice(at + end.length);
    }
  }
  assert.equal(text, "");
}

test("over REST, lines and events have the same states as polling, from the first to the last", async () => {
  const { name, release } = await begin();
  const [lines, events] = await Promise.all([
    watch(name),
    watch(name, { accept: "text/event-stream" }),
  ]);
  assert.equal(lines.headers.get("content-type"), "application/x-ndjson");
  assert.equal(events.headers.get("content-type"), "text/event-stream");
  const [fromLines, fromEvents] = [partsOf(lines, "\n"), partsOf(events, "\n\n")];
  const waiting = await poll(name);
  assert.equal(waiting.state, "PROCESSING");
  assert.deepEqual(JSON.parse((await fromLines.next()).value ?? ""), { result: waiting });
  const [, data = ""] = (await fromEvents.next()).value?.split("data: ") ?? [];
  assert.deepEqual(JSON.parse(data), { result: waiting });
  await release();
  const [restOfLines, restOfEvents] = await Promise.all(
    [fromLines, fromEvents].map((each) => Array.fromAsync(each)),
  );
  const done = await poll(name);
  assert.equal(done.state, "SUCCESS");
  assert.deepEqual(JSON.parse(restOfLines?.at(-1) ?? ""), { result: done });
  assert.equal(restOfEvents?.at(-1), "event: end\nid: end\ndata: {}");
  assert.deepEqual(JSON.parse(restOfEvents?.at(-2)?.slice("data: ".length) ?? ""), {
    result: done,
  });
  const again = (await (await watch(name)).text()).split("\n");
  assert.deepEqual(
    again,
    [JSON.stringify({ result: done }), ""],
    "for a job that has ended, only the end",
  );
});

test("a caller without access to a job gets the same response as from polling, and no stream", async () => {
  const { name } = await begin();
  const { json } = await service.call("POST", "/v1/apiKeys", {
    displayName: "speech",
    scopes: ["speech"],
  });
  const id = "0190a0a0-0000-7000-8000-000000000000";
  for (const [path, headers, status] of [
    [`transcriptjob/${id}`, {}, 404],
    ["transcriptjob/x", { accept: "text/event-stream" }, 404],
    [name, { authorization: "Bearer x" }, 401],
    [name, { authorization: `Bearer ${json.secret}` }, 403],
  ] as const) {
    const answer = await watch(path, headers);
    assert.equal(answer.status, status, path);
    const polled = await callRest(service.address, undefined, {
      method: "GET",
      path: `/v1alpha1/${path}`,
      headers: { authorization: `Bearer ${service.key}`, ...headers },
    });
    assert.deepEqual(await answer.json(), polled.json);
  }
});

test("the TypeScript client and gRPC wait for a job in a loop over the stream", async () => {
  const baseUrl = service.address;
  const header = { authorization: `Bearer ${service.key}` };
  const overGrpc = createClient(Transcripts, createGrpcTransport({ baseUrl }));
  const { transcripts } = createHlustClient({ url: baseUrl, token: service.key });
  const wait = async (follow: (name: string) => AsyncIterable<TranscriptJob>) => {
    const { name, release } = await begin();
    const seen: TranscriptJob[] = [];
    for await (const job of follow(name)) if (seen.push(job) === 1) await release();
    return { name, seen };
  };
  const waits = await Promise.all([
    wait((name) => transcripts.watchTranscriptJob({ name })),
    wait((name) => overGrpc.watchTranscriptJob({ name }, { headers: header })),
  ]);
  for (const { name, seen } of waits) {
    assert.equal(seen.at(0)?.state, State.PROCESSING);
    const last = seen.at(-1);
    assert.ok(last);
    assert.deepEqual(toJson(TranscriptJobSchema, last), await poll(name));
    assert.equal(last.state, State.SUCCESS);
  }
  for (const { watchTranscriptJob } of [transcripts, overGrpc]) {
    const call = watchTranscriptJob({ name: "transcriptjob/x" }, { headers: header });
    assert.equal((await connectFailure(Array.fromAsync(call))).code, Code.NotFound);
  }
});

test("a browser's EventSource follows a job with ?token=, and stops when it ends", async () => {
  const { name, release } = await begin();
  await using browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(`${service.address}/healthz`);
  const seen = page.evaluate(
    (url) =>
      new Promise<string[]>((resolve) => {
        const events: string[] = [];
        const source = new EventSource(url);
        source.addEventListener("message", ({ data }) => {
          const { state } = JSON.parse(String(data)).result;
          if (events.at(-1) !== state) events.push(state);
        });
        source.addEventListener("end", () => events.push("end"));
        source.addEventListener("error", () => {
          events.push(source.readyState === EventSource.CLOSED ? "closed" : "connects");
          if (source.readyState === EventSource.CLOSED) resolve(events);
        });
      }),
    `/v1alpha1/${name}:watch?token=${service.key}`,
  );
  await release();
  // After the end, the EventSource reconnects once by itself and gets 204, which stops it.
  const states = (await seen).filter((event) => event !== "PROCESSING");
  assert.deepEqual(states, ["SUCCESS", "end", "connects", "closed"]);
});

test("a service that is shutting down ends watches immediately, so that callers reconnect to another node", async () => {
  const { name } = await begin();
  const headers = { authorization: `Bearer ${service.key}` };
  const read = async (accept: string, end: string) => {
    return partsOf(await watch(name, { accept }), end);
  };
  const overGrpc = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  const answers = overGrpc.watchTranscriptJob({ name }, { headers });
  const grpc = answers[Symbol.asyncIterator]();
  const lines = await read("application/json", "\n");
  const events = await read("text/event-stream", "\n\n");
  await Promise.all([grpc.next(), lines.next(), events.next()]);
  const startedAt = performance.now();
  await service[Symbol.asyncDispose]();
  const ms = performance.now() - startedAt;
  assert.ok(ms < 14_000, `${ms} ms: calls in flight may take 15 s`);
  assert.equal((await connectFailure(grpc.next())).code, Code.Unavailable);
  const last = (await lines.next()).value ?? "";
  assert.equal(JSON.parse(last).error.code, Code.Unavailable);
  assert.match(last, /RetryInfo/);
  // The event does not have the id of the end, so that an EventSource reconnects.
  assert.match((await events.next()).value ?? "", /^data: \{"error":/);
  for (const each of [lines, events]) assert.equal((await each.next()).done, true);
});
