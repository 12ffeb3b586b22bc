// The error of a job in the state ERROR has a reason for programs, google.rpc.ErrorInfo, on every
// protocol and in webhooks.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { createRegistry } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { createHlustClient } from "../../src/client/hlust-client.ts";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import {
  type TranscriptJob,
  Transcripts,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { withResult } from "../fixtures/job-result.ts";
import { until } from "../fixtures/until.ts";
import { pollJob, submit } from "./jobs.ts";
import { openMediaHost, type MediaHost } from "./media-host.ts";
import { noteSecret } from "./secrets.ts";
import { openTestService, type Answer, type TestService } from "./service.ts";

let service: TestService;
let host: MediaHost;
before(async () => {
  host = await openMediaHost({
    "/page.html": (_, response) => void response.setHeader("content-type", "text/html").end("<p>"),
    "/empty": (_, response) => void response.end(),
    "/held": () => {},
  });
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_LOG: "silent" });
});
after(async () => {
  await host[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

/** Returns [reason, domain] of each ErrorInfo in JSON. */
function infosIn(error: Answer["json"]): unknown[] {
  return error.details.map((detail: Record<string, string>) => [
    detail["@type"],
    detail["reason"],
    detail["domain"],
  ]);
}

const infoOf = (reason: string) => [["type.googleapis.com/google.rpc.ErrorInfo", reason, "hlust"]];

test("each kind of failure has its own reason, which is the same in GET, list and watch on every protocol", async () => {
  const rows: [path: string, reason: string][] = [
    ["/missing.mp3", "MEDIA_STATUS"],
    ["/empty", "MEDIA_EMPTY"],
    ["/page.html", "MEDIA_INVALID"],
    ["/held", "JOB_CANCELLED"],
  ];
  const headers = { authorization: `Bearer ${service.key}` };
  const baseUrl = service.address;
  const jsonOptions = { registry: createRegistry(ErrorInfoSchema) };
  const json = { baseUrl, httpVersion: "1.1" as const, useBinaryFormat: false, jsonOptions };
  const clients = [
    createClient(Transcripts, createGrpcTransport({ baseUrl })),
    createClient(Transcripts, createConnectTransport(json)),
    createHlustClient({ url: baseUrl, token: service.key }).transcripts,
  ];
  for (const [path, reason] of rows) {
    const { name } = (await submit(service, host.address + path)).json;
    if (path === "/held") {
      const cancelled = await service.call("POST", `/v1alpha1/${name}:cancel`, {});
      assert.deepEqual(infosIn(cancelled.json.error), infoOf(reason));
    }
    const { last } = await pollJob(service, name);
    assert.equal(last.state, path === "/held" ? "CANCELLED" : "ERROR", path);
    assert.deepEqual(infosIn(last.error), infoOf(reason), path);
    const listed = await service.call("GET", "/v1alpha1/transcriptjob?pageSize=1");
    assert.deepEqual(listed.json.jobs[0].error, last.error, path);
    const watched = await fetch(`${baseUrl}/v1alpha1/${name}:watch`, { headers });
    assert.deepEqual(JSON.parse(await watched.text()).result.error, last.error, path);
    for (const client of clients) {
      const jobs: TranscriptJob[] = [await client.getTranscriptJob({ name }, { headers })];
      for await (const job of client.watchTranscriptJob({ name }, { headers })) jobs.push(job);
      for (const { error } of jobs.map(withResult)) {
        const [detail] = error?.details ?? [];
        const info = detail && anyUnpack(detail, ErrorInfoSchema);
        assert.deepEqual([info?.reason, info?.domain], [reason, "hlust"], path);
      }
    }
  }
});

test("webhooks receive the error as GET shows it", async () => {
  const bodies: string[] = [];
  await using parts = new AsyncDisposableStack();
  const hook = createServer((request: IncomingMessage, response) => {
    void Array.fromAsync(request.setEncoding("utf8")).then((texts) => {
      bodies.push(texts.join(""));
      response.end();
    });
  });
  hook.listen(0, "127.0.0.1");
  await once(hook, "listening");
  parts.defer(() => {
    hook.closeAllConnections();
    hook.close();
  });
  const bound = hook.address();
  assert.ok(bound !== null && typeof bound === "object");
  const made = await service.call("POST", "/v1/webhooks", {
    url: `http://127.0.0.1:${bound.port}/`,
  });
  assert.equal(made.status, 200, made.json.message);
  noteSecret(made.json.secret, "credential");
  const { name } = (await submit(service, `${host.address}/missing.mp3`)).json;
  const { last } = await pollJob(service, name);
  await until(() => Promise.resolve(bodies.length > 0));
  const { data } = JSON.parse(bodies[0] ?? "");
  assert.deepEqual(infosIn(data.error), infoOf("MEDIA_STATUS"));
  assert.deepEqual(data.error, last.error);
});
