// Secrets and speech of callers do not leak. Every service that the tests of the specification open
// is searched in the same way when it closes (test/spec/secrets.ts).
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";
import { speak } from "../fixtures/flite.ts";
import { pollJob, submit } from "../spec/jobs.ts";
import { openMediaHost, type MediaHost } from "../spec/media-host.ts";
import { huntInLog, huntSecrets, noteError, noteSecret } from "../spec/secrets.ts";
import { callRest, openTestService, type TestService } from "../spec/service.ts";
import { openStream, streamingConfig } from "../spec/stream.ts";
import { draftOf } from "../spec/transcripts.ts";

let service: TestService;
let host: MediaHost;
let database: Database;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  const wav = speak("the budget is secret until monday");
  host = await openMediaHost({
    [`/good.wav?${mark("query")}`]: wav,
    [`/text.wav?${mark("query")}`]: Buffer.from("this is not a recording"),
    [`/moved.wav?${mark("query")}`]: (_request, response) => {
      response.writeHead(302, { location: `/nothing.wav?${mark("moved")}` }).end();
    },
  });
  const folder = join(service.dataFolder, "postgres");
  database = await openDatabase({ url: undefined, folder, log: createLog("silent") });
});
after(async () => {
  await database[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  // Closing the service searches for all marked texts and secrets.
  await service[Symbol.asyncDispose]();
});

/** Returns a text that does not occur anywhere by chance, and that the search looks for. */
function mark(name: string): string {
  const marked = `marked-${name}-þingræða-Qx7`;
  noteSecret(marked, "text");
  noteSecret(encodeURIComponent(marked), "text");
  return encodeURIComponent(marked);
}
const marked = (name: string) => decodeURIComponent(mark(name));

test("texts of accepted and refused transcripts appear in no log, error or table", async () => {
  const draft = draftOf(marked("subject"), {
    description: marked("description"),
    keywords: [marked("keyword")],
  });
  const { json } = await service.call("POST", "/v1alpha1/transcripts", {
    ...draft,
    segments: [
      {
        startTime: "0s",
        endTime: "1s",
        words: [{ startTime: "0s", endTime: "1s", word: marked("word") }],
      },
    ],
  });
  const path = `/v1alpha1/${json.name}`;
  const refused = [
    service.call("PATCH", path, {
      metadata: { subject: `${marked("long")}${"x".repeat(20_000)}` },
    }),
    service.call("PATCH", path, { segments: [{ startTime: marked("time") }] }),
    service.call("PATCH", path, `{"metadata": {"subject": "${marked("broken")}"`),
    service.call("GET", `/v1alpha1/transcripts?filter=${mark("filter")}`),
    service.call("POST", `${path}:import?format=SRT&${mark("parameter")}=1`, mark("srt")),
  ];
  for (const answer of refused) assert.ok((await answer).status >= 400);
  const filter = encodeURIComponent(`metadata.subject CONTAINS "${marked("subject")}"`);
  const list = await service.call("GET", `/v1alpha1/transcripts?filter=${filter}`);
  assert.equal(list.status, 200, JSON.stringify(list.json));
  assert.equal((await service.call("DELETE", path)).status, 200);
});

test("URLs of media and words in the media appear in no log, error or table", async () => {
  const ends = ["good.wav", "text.wav", "moved.wav", "nothing.wav"].map(async (file) => {
    const { json } = await submit(service, `${host.address}/${file}?${mark("query")}`, {
      subject: marked("job"),
    });
    return (await pollJob(service, json.name)).last;
  });
  const states = (await Promise.all(ends)).map(({ state }) => state);
  assert.deepEqual(states, ["SUCCESS", "ERROR", "ERROR", "ERROR"]);
  const refused = await submit(
    service,
    `http://${mark("user")}:${mark("password")}@127.0.0.1/a.wav`,
  );
  assert.equal(refused.status, 400);
});

test("URLs of unreachable webhooks appear in no log, error or table", async () => {
  const { status, json } = await service.call("POST", "/v1/webhooks", {
    url: `${host.address}/hook?${mark("hook")}`,
  });
  assert.equal(status, 200, JSON.stringify(json));
  assert.equal((await service.call("POST", `/v1/${json.webhook.name}:test`, {})).status, 200);
});

test("live and refused speech appears in no log, error or table", async () => {
  const stream = await openStream(service.address, { token: service.key });
  stream.send(streamingConfig({}, { interimResults: true }));
  stream.sendAudio(speak("these words are for us alone").subarray(44));
  stream.send({ audioContent: "" });
  assert.equal(await stream.closed, 1000);
  for (const { result } of stream.messages) {
    for (const { alternatives } of result?.results ?? []) {
      for (const { transcript } of alternatives) noteSecret(transcript, "text");
    }
  }
  const broken = await openStream(service.address, { protocols: ["Bearer", service.key] });
  broken.sendRaw(`{"audioContent": "${marked("frame")}"}`);
  assert.equal(await broken.closed, 1007);
});

test("refused tokens appear in no log, error or table, wherever they were sent", async () => {
  const token = `hlust_${"0".repeat(32)}_${"marked-secret".repeat(4).slice(0, 43)}`;
  const path = "/v2beta1/speech:recognize";
  const call = (query: string, headers: Record<string, string>) =>
    callRest(service.address, undefined, { method: "POST", path: path + query, body: {}, headers });
  const rows = [
    call(`?token=${token}`, {}),
    call(`?token=${token}x&alt=${token}`, {}),
    call("", { authorization: `Bearer ${token}` }),
    call("", { authorization: `Bearer ${token}`, "x-goog-api-key": `${token}2` }),
    call("", { cookie: `__Host-hlust=${token}` }),
    call("", { "content-type": token, authorization: `Bearer ${service.key}` }),
    callRest(service.address, token, { method: "GET", path: `/v1/apiKeys/${token}` }),
    callRest(service.address, service.key, { method: "DELETE", path: `/v1/apiKeys/${token}` }),
  ];
  for (const row of rows) assert.ok((await row).status >= 400);
  for (const path of ["/healthz", "/livez", "/readyz"]) {
    const answer = await fetch(`${service.address}${path}`);
    noteError(service.address, await answer.text());
  }
});

test("the check finds a leak in the log, in an error and in the database", async () => {
  await huntSecrets(database.db, service.address);
  const line = `{"level":"info","event":"call","target":"/v2beta1/speech:recognize?token=${service.key}"}`;
  assert.throws(() => {
    huntInLog([line]);
  }, /secrets are shown:\nthe log: credential hlust_/);
  assert.throws(() => {
    huntInLog([marked("word")]);
  }, /the log: text marked-word/);
  noteError("http://elsewhere", `no such key ${service.key}`);
  await assert.rejects(huntSecrets(database.db, "http://elsewhere"), /an error: credential hlust_/);
  const name = (text: string) =>
    database.db.updateTable("api_key").set({ display_name: text }).execute();
  for (const [kept, kind] of [
    [service.key, "credential"],
    [marked("word"), "text"],
  ] as const) {
    await name(kept);
    await assert.rejects(
      huntSecrets(database.db, service.address),
      new RegExp(`api_key.display_name: ${kind}`),
    );
    await name("");
  }
});
