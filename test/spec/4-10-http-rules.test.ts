// §4.10, item 9: rules of a service configuration replace those of the contract in a running
// service.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { readHttpRulesFile } from "../../src/server/http-rules-file.ts";
import { ServiceConfigError } from "../../src/transcoding/service-config.ts";
import { speak } from "../fixtures/flite.ts";
import { startService } from "../fault/process.ts";
import { callRest, pcmOf } from "./service.ts";
import { finalsOf, openStream, streamingConfig, streamPath } from "./stream.ts";

const hlust = resolve(import.meta.dirname, "../../bin/hlust");
let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-rules-"));
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

function rulesFile(name: string, text: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const transcripts = "hlust.transcripts.v1alpha1.Transcripts";
const speech = "hlust.speech.v2beta1.Speech";

test("rules of HLUST_HTTP_RULES replace those of the contract", async () => {
  const rules = rulesFile(
    "rules.yaml",
    `type: google.api.Service
config_version: 3
http:
  fully_decode_reserved_expansion: true
  rules:
    - selector: ${transcripts}.GetTranscript
      get: /archive/{name=**}
    - selector: ${transcripts}.ListTranscripts
      get: /archive:list
      response_body: transcripts
      additional_bindings:
        - custom: { kind: "*", path: /any/archive }
    - selector: ${speech}.StreamingRecognize
      custom: { kind: websocket, path: /live }
      body: "*"
    - selector: ${speech}.Recogniz
      post: /speech
      body: "*"
    - selector: ${transcripts}.CreateTranscript
      post: /v1alpha1/transcripts
      body: transcript
    - selector: ${transcripts}.InitUpload
      post: /v1alpha1/transcripts
      body: "*"
    - selector: ${transcripts}.SubmitTranscriptJob
      post: /live
      body: "*"
`,
  );
  await using service = await startService(join(folder, "data"), {
    HLUST_HTTP_RULES: rules,
    HLUST_LOG: "warn",
  });
  const call = (method: string, path: string, body?: unknown) =>
    callRest(service.address, service.key, { method, path, body });

  // Two rules of the file have the same path. The last one wins, and the log names both places.
  const warnings = service
    .output()
    .errors.split("\n")
    .filter((line) => line.includes("http_rules."))
    .map((line): unknown => JSON.parse(line))
    .map((line) => (assert.ok(typeof line === "object" && line !== null), { ...line, time: 0 }));
  assert.deepEqual(warnings, [
    {
      level: "warn",
      time: 0,
      event: "http_rules.unused_selector",
      selector: `${speech}.Recogniz`,
      place: `${rules}:16:17`,
    },
    {
      level: "warn",
      time: 0,
      event: "http_rules.shadowed_binding",
      method: "CreateTranscript",
      rule: "POST /v1alpha1/transcripts",
      place: `${rules}:20:13`,
      by: "InitUpload",
      byPlace: `${rules}:23:13`,
    },
  ]);
  const upload = await call("POST", "/v1alpha1/transcripts", {});
  assert.match(upload.json.resourceName, /^uploads\//);

  assert.equal((await call("GET", "/v1alpha1/transcripts")).status, 405);
  assert.deepEqual((await call("GET", "/archive:list")).json, []);
  assert.equal((await call("PROPFIND", "/any/archive")).status, 200);
  const id = "0190a0a0-0000-7000-8000-000000000000";
  const old = await call("GET", `/v1alpha1/transcripts/${id}`);
  assert.equal(old.status, 405);
  assert.equal(old.headers.get("allow"), "DELETE, PATCH");
  // The transcript does not exist, but the error shows that the escaped slash was decoded.
  const moved = await call("GET", `/archive/transcripts%2F${id}`);
  assert.equal(moved.status, 404);
  assert.match(moved.json.message, new RegExp(`transcripts/${id}`));

  // This path also has a stream, which begins with GET.
  const put = await call("PUT", "/live");
  assert.deepEqual([put.status, put.headers.get("allow")], [405, "GET, POST"]);
  assert.equal((await call("GET", "/live")).status, 426);

  await assert.rejects(openStream(service.address, { token: service.key }), /HTTP 404/);
  const stream = await openStream(service.address, { token: service.key, path: "/live" });
  stream.send(streamingConfig());
  stream.sendAudio(pcmOf(speak("nothing is lost")));
  stream.send({ audioContent: "" });
  assert.equal(await stream.closed, 1000);
  assert.deepEqual(
    finalsOf(stream.messages).map(({ transcript }) => transcript),
    ["nothing is lost "],
  );
  assert.notEqual(streamPath, "/live");
  await assert.rejects(
    openStream(service.address, { token: service.key, path: "/any/archive" }),
    /HTTP 400/,
  );
  assert.equal(service.output().errors.includes("call.broken"), false);
});

test("a start with an invalid file fails with every problem and its place", () => {
  const bad = rulesFile(
    "bad.yaml",
    `http:
  rules:
    - selector: ${transcripts}.GetTranscript
      get: /archive/{nome=**}
    - selector: ${transcripts}.GetTranscript
      gets: /archive/{name=**}
    - selector: ${speech}.StreamingRecognize
      get: /live
`,
  );
  const env = {
    PATH: process.env["PATH"],
    HLUST_HTTP_RULES: "bad.yaml",
    HLUST_DATA: join(folder, "never"),
    HLUST_PORT: "0",
  };
  const { status, stderr } = spawnSync(hlust, ["serve"], { env, encoding: "utf8", cwd: folder });
  assert.equal(status, 2, stderr);
  assert.equal(
    stderr,
    `hlust: HLUST_HTTP_RULES cannot be used:
  ${bad}:4:22: variable "nome" of "/archive/{nome=**}": GetTranscriptRequest has no field "nome"
  ${bad}:6:7: expected one of selector, get, put, post, delete, patch, custom, body, response_body, additional_bindings, found "gets"
Run \`hlust config\` for the settings.
`,
  );
});

test("rules that cannot be served, and files that are not rules, are refused", async () => {
  const refusal = async (file: string): Promise<string> => {
    const problem: unknown = await readHttpRulesFile(resolve(folder, file), [
      Transcripts,
      Speech,
    ]).catch((error: unknown) => error);
    assert.ok(problem instanceof ServiceConfigError, file);
    return problem.problems.join("\n");
  };
  const rules = [
    { selector: `${speech}.StreamingRecognize`, get: "/live" },
    { selector: `${speech}.Recognize`, custom: { kind: "WEBSOCKET", path: "/recognize" } },
  ];
  const kinds = await refusal(rulesFile("kinds.json", JSON.stringify({ http: { rules } })));
  assert.match(kinds, /kinds\.json:1:87: expected custom with kind WEBSOCKET, found GET: Strea/);
  assert.match(kinds, /kinds\.json:1:184: expected another kind, found WEBSOCKET: Recognize is no/);
  for (const path of ["docs", "console", "media"]) {
    const own = [{ selector: `${transcripts}.GetTranscript`, get: `/${path}/{name=**}` }];
    assert.match(
      await refusal(rulesFile("own.json", JSON.stringify({ http: { rules: own } }))),
      new RegExp(`own\\.json:1:\\d+: expected another path, found /${path}/\\{name=`),
    );
  }
  assert.match(await refusal("none.yaml"), /^\S+none\.yaml: cannot be read: ENOENT/);
  assert.match(await refusal("."), /^\S+: cannot be read: it is not a file/);
  assert.match(await refusal("/dev/zero"), /cannot be read: it is not a file/);
  assert.match(
    await refusal(rulesFile("latin1", Buffer.from([0xff]))),
    /latin1: expected UTF-8 text/,
  );
  assert.match(
    await refusal(rulesFile("long", "#".repeat(5 << 20))),
    /long: expected at most 1048576/,
  );
  assert.match(await refusal(rulesFile("empty", "")), /empty:1:1: expected a map with "http"/);
});

test("hlust config shows HLUST_HTTP_RULES", () => {
  const env = { PATH: process.env["PATH"], HLUST_HTTP_RULES: "/etc/rules.yaml" };
  const { stdout } = spawnSync(hlust, ["config"], { env, encoding: "utf8" });
  assert.match(
    stdout,
    /HLUST_HTTP_RULES\n {4}Service configuration .*\n {4}\/etc\/rules.yaml {3}\(default: /,
  );
});
