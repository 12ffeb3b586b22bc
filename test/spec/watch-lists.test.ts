// WatchTranscriptJobs and WatchTranscripts on every protocol: what there is, and then changes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { createHlustClient } from "../../src/client/hlust-client.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { speak } from "../fixtures/flite.ts";
import { fieldsOf, pollJob, refusedWatch, submit } from "./jobs.ts";
import { draftOf } from "./transcripts.ts";
import { openMediaHost, type MediaHost } from "./media-host.ts";
import { callRest, openTestService, type Answer, type TestService } from "./service.ts";

let service: TestService;
let host: MediaHost;

before(async () => {
  host = await openMediaHost({ "/talk.wav": speak("any words will do here") });
  service = await openTestService({ HLUST_ENGINE: "scripted" });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

/** Opens a stream over REST, and returns its messages. */
async function watchRest(
  path: string,
  headers: Record<string, string> = { authorization: `Bearer ${service.key}` },
): Promise<AsyncGenerator<Answer["json"], void>> {
  const response = await fetch(`${service.address}${path}`, { headers });
  assert.equal(response.status, 200);
  return messagesIn(response);
}

/** Yields the messages of lines or events as they arrive. */
async function* messagesIn(response: Response): AsyncGenerator<Answer["json"], void> {
  const isEvents = response.headers.get("content-type") === "text/event-stream";
  const end = isEvents ? "\n\n" : "\n";
  let text = "";
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += chunk;
    for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end)) {
      const part = text.slice(0, at).split("data: ").at(-1) ?? "";
      text = text.slice(at + end.length);
      if (!part.startsWith(":")) yield JSON.parse(part);
    }
  }
}

/** Returns the next message of a stream that has jobs. */
async function nextJobs(
  watch: AsyncIterator<Answer["json"], void>,
): Promise<{ update: boolean; jobs: Answer["json"][] }> {
  for (;;) {
    const { value } = await watch.next();
    const message = value?.result ?? value;
    assert.ok(message, "the stream has ended");
    if (!message.update || message.jobs.length > 0) return message;
  }
}

/** Returns the states of a job as a watch sends them, until it has ended. */
async function statesOf(
  watch: AsyncIterator<Answer["json"], void>,
  name: string,
): Promise<Answer["json"][]> {
  const seen: Answer["json"][] = [];
  for (;;) {
    const { update, jobs } = await nextJobs(watch);
    assert.equal(update, true);
    for (const job of jobs) if (job.name === name) seen.push(job);
    const { state } = seen.at(-1) ?? {};
    if (state !== undefined && state !== "PROCESSING" && state !== 2) return seen;
  }
}

test("over REST, lines and events show all jobs as GET does, and then a new job until it ends", async () => {
  const earlier = await submit(service, `${host.address}/talk.wav`, { subject: "Fyrsti fundur" });
  const { last } = await pollJob(service, earlier.json.name);
  const path = "/v1alpha1/transcriptjob:watch";
  const filter = encodeURIComponent('metadata.subject CONTAINS "annar"');
  const [lines, events, filtered] = await Promise.all([
    watchRest(path),
    watchRest(`${path}?token=${service.key}`, { accept: "text/event-stream" }),
    watchRest(`${path}?filter=${filter}`),
  ]);
  for (const each of [lines, events]) {
    assert.deepEqual((await each.next()).value, { result: { update: false, jobs: [last] } });
  }
  assert.deepEqual((await filtered.next()).value, { result: { update: false, jobs: [] } });
  const { json } = await submit(service, `${host.address}/talk.wav`, { subject: "Annar fundur" });
  const streams = [lines, events, filtered];
  const seen = await Promise.all(streams.map((each) => statesOf(each, json.name)));
  const done = await pollJob(service, json.name);
  for (const states of seen) assert.deepEqual(states.at(-1), done.last);
  await Promise.all(streams.map((each) => each.return()));
});

test("gRPC, gRPC-Web, Connect and the TypeScript client show all jobs, and then a new one until it ends", async () => {
  const baseUrl = service.address;
  const headers = { authorization: `Bearer ${service.key}` };
  const stop = new AbortController();
  const options = { headers, signal: stop.signal };
  const clients = [
    createGrpcTransport({ baseUrl }),
    createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
    createConnectTransport({ baseUrl, httpVersion: "2" }),
  ].map((transport) => createClient(Transcripts, transport));
  const { transcripts } = createHlustClient({ url: baseUrl, token: service.key });
  const watches = [...clients, transcripts].map((client) =>
    client.watchTranscriptJobs({}, options)[Symbol.asyncIterator](),
  );
  const { json: list } = await service.call("GET", "/v1alpha1/transcriptjob");
  for (const watch of watches) {
    const { update, jobs } = await nextJobs(watch);
    assert.equal(update, false);
    assert.deepEqual(
      jobs.map(({ name }) => name),
      list.jobs.map(({ name }: { name: string }) => name),
    );
  }
  const { json } = await submit(service, `${host.address}/talk.wav`);
  const seen = await Promise.all(watches.map((watch) => statesOf(watch, json.name)));
  for (const states of seen) assert.equal(states.at(-1)?.progressPercent, 100);
  stop.abort();
});

/** Returns the next message about changes that is not empty. */
async function nextChange(watch: AsyncIterator<Answer["json"], void>): Promise<Answer["json"]> {
  for (;;) {
    const { value } = await watch.next();
    const message = value?.result ?? value;
    assert.equal(message?.update, true);
    if (message.transcripts.length > 0 || message.removed.length > 0) return message;
  }
}

/** Returns a message with its URLs as they were signed in any second. */
function unsigned(message: Answer["json"]): Answer["json"] {
  return JSON.parse(JSON.stringify(message).replaceAll(/expires=\d+&token=[\w-]+/g, "signed"));
}

test("a watch of transcripts shows a page as the list does, and then what is created, changed or deleted", async () => {
  const create = async (subject: string): Promise<string> =>
    (await service.call("POST", "/v1alpha1/transcripts", draftOf(subject))).json.name;
  const [first, second] = [await create("a fundur"), await create("b fundur")];
  const query = new URLSearchParams({
    filter: 'metadata.subject CONTAINS "fundur"',
    pageSize: "1",
    "ordering.orderBy": "subject",
    "ordering.direction": "ASCENDING",
  }).toString();
  const lines = await watchRest(`/v1alpha1/transcripts:watch?${query}`);
  const events = await watchRest(`/v1alpha1/transcripts:watch?token=${service.key}`, {
    accept: "text/event-stream",
  });
  const { json: page } = await service.call("GET", `/v1alpha1/transcripts?${query}`);
  assert.deepEqual(
    page.transcripts.map(({ name }: { name: string }) => name),
    [first],
  );
  assert.notEqual(page.nextPageToken, "");
  const { result } = (await lines.next()).value;
  assert.deepEqual(unsigned(result), { update: false, ...unsigned(page), removed: [] });
  const { result: all } = (await events.next()).value;
  const { json: list } = await service.call("GET", "/v1alpha1/transcripts");
  assert.deepEqual(unsigned(all), { update: false, ...unsigned(list), removed: [] });

  const third = await create("c fundur");
  const shown = async (): Promise<Answer["json"]> => {
    const [filtered, other] = await Promise.all([nextChange(lines), nextChange(events)]);
    return [filtered, other].map(({ transcripts, removed }) => [
      transcripts.map(({ name }: { name: string }) => name),
      removed,
    ]);
  };
  assert.deepEqual(await shown(), [
    [[third], []],
    [[third], []],
  ]);
  const patch = async (name: string, subject: string) => {
    const body = { metadata: { subject } };
    const { status, json } = await service.call("PATCH", `/v1alpha1/${name}`, body);
    assert.equal(status, 200);
    return json;
  };
  const changed = await patch(second, "annar fundur");
  const [message, other] = await Promise.all([nextChange(lines), nextChange(events)]);
  assert.deepEqual(message, {
    update: true,
    transcripts: [{ ...changed, segments: [] }],
    nextPageToken: "",
    removed: [],
  });
  assert.deepEqual(other, message);
  await patch(third, "ekkert");
  assert.deepEqual(await shown(), [
    [[], [third]],
    [[third], []],
  ]);
  await service.call("DELETE", `/v1alpha1/${second}`);
  assert.deepEqual(await shown(), [
    [[], [second]],
    [[], [second]],
  ]);
  await Promise.all([lines.return(), events.return()]);
});

test("gRPC, gRPC-Web, Connect and the TypeScript client show a new transcript, and that it was deleted", async () => {
  const baseUrl = service.address;
  const stop = new AbortController();
  const options = { headers: { authorization: `Bearer ${service.key}` }, signal: stop.signal };
  const clients = [
    createGrpcTransport({ baseUrl }),
    createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
    createConnectTransport({ baseUrl, httpVersion: "2" }),
  ].map((transport) => createClient(Transcripts, transport));
  const { transcripts } = createHlustClient({ url: baseUrl, token: service.key });
  const watches = [...clients, transcripts].map((client) =>
    client.watchTranscripts({ pageSize: 1 }, options)[Symbol.asyncIterator](),
  );
  for (const watch of watches) assert.equal((await watch.next()).value?.update, false);
  const { json } = await service.call("POST", "/v1alpha1/transcripts", draftOf("nýr"));
  for (const watch of watches) {
    const message = await nextChange(watch);
    assert.deepEqual(
      message.transcripts.map(({ name }: { name: string }) => name),
      [json.name],
    );
  }
  await service.call("DELETE", `/v1alpha1/${json.name}`);
  for (const watch of watches) assert.deepEqual((await nextChange(watch)).removed, [json.name]);
  stop.abort();
});

test("wrong requests to watch transcripts are refused with all their violations", async () => {
  for (const [query, fields] of [
    ["filter=x", ["filter"]],
    ["pageSize=-1&pageToken=x&filter=x", ["filter", "pageSize", "pageToken"]],
    ["ordering.orderBy=name", ["ordering.orderBy"]],
    ["ordering.direction=UP", ["ordering.direction"]],
    ["ordering.direction=ascending", ["ordering.direction"]],
    ["ordering.direction=7", ["ordering.direction"]],
    ["ordering.direction=1.5", ["ordering.direction"]],
    ["ordering.direction=", ["ordering.direction"]],
    ["ordering.direction=ASCENDING&ordering.direction=DESCENDING", ["ordering.direction"]],
    ["ordering.direction=7&ordering.orderBy=name", ["ordering.direction", "ordering.orderBy"]],
    ["ordering=ASCENDING", ["ordering"]],
    ["ordering.order=ASCENDING", ["ordering.order"]],
    ["filter=state%20%3D%20%22ERROR%22", ["filter"]],
  ] as const) {
    const refused = await refusedWatch(service, `/v1alpha1/transcripts:watch?${query}`);
    assert.equal(refused.status, 400, query);
    assert.deepEqual(fieldsOf(refused), fields);
  }
});

test("a wrong filter is refused on every protocol, with its column", async () => {
  const overGrpc = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  const options = { headers: { authorization: `Bearer ${service.key}` } };
  for (const [filter, description] of [
    ["x", /metadata.subject or metadata.keywords at column 1/],
    [" ", /at column 2/],
    ["metadata.subject CONTAINS", /a text in double quotes/],
    ['metadata.subject contains "a"', /CONTAINS at column 18/],
    ["metadata.keywords CONTAINS []", /a text in double quotes/],
    ['metadata.keywords CONTAINS ["a"', /at column 32/],
    ['metadata.subject CONTAINS "a" OR', /at column 31/],
    ['metadata.subject CONTAINS "a" AND', /at column 34/],
    ['state = "ERROR"', /metadata.subject or metadata.keywords at column 1/],
    [`metadata.subject CONTAINS "${"x".repeat(4_100)}"`, /at most 4096/],
  ] as const) {
    const path = `/v1alpha1/transcriptjob:watch?filter=${encodeURIComponent(filter)}`;
    const refused = await refusedWatch(service, path);
    assert.equal(refused.status, 400, filter);
    assert.deepEqual(fieldsOf(refused), ["filter"]);
    assert.match(refused.json.message, description);
    const call = Array.fromAsync(overGrpc.watchTranscriptJobs({ filter }, options));
    assert.equal((await connectFailure(call)).code, Code.InvalidArgument);
  }
});

test("a caller without the scope or with a wrong token gets no stream", async () => {
  const { json } = await service.call("POST", "/v1/apiKeys", {
    displayName: "speech",
    scopes: ["speech"],
  });
  for (const [token, status] of [
    ["x", 401],
    [json.secret, 403],
  ] as const) {
    const path = "/v1alpha1/transcriptjob:watch";
    const answer = await callRest(service.address, token, { method: "GET", path });
    assert.equal(answer.status, status);
  }
});

test("a service that is shutting down ends the watches of lists immediately", async () => {
  const lines = await watchRest("/v1alpha1/transcriptjob:watch");
  await lines.next();
  const startedAt = performance.now();
  await service[Symbol.asyncDispose]();
  assert.ok(performance.now() - startedAt < 14_000, "calls in flight may take 15 s");
  assert.equal((await lines.next()).value.error.code, Code.Unavailable);
  assert.equal((await lines.next()).done, true);
});
