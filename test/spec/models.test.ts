// Models that are installed while the service runs: one for another language, and one for speakers.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { type protos, SpeechClient } from "@google-cloud/speech";
import { credentials } from "@grpc/grpc-js";
import { builtinModelsFolder } from "../../src/models/models-folder.ts";
import { espeak, flite, joined, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { serveDownloads } from "../fixtures/model-fixture.ts";
import { type EndedCommand, runHlust } from "../fixtures/run-hlust.ts";
import { until } from "../fixtures/until.ts";
import { speaker } from "./transcripts.ts";
import { pollJob, submit, textOf } from "./jobs.ts";
import { type MediaHost, openMediaHost } from "./media-host.ts";
import { openStream } from "./stream.ts";
import { openTestService, type TestService } from "./service.ts";

const starter = join(builtinModelsFolder, "is-IS-starter");
const testModels = resolve(import.meta.dirname, "../models");
/** The sentences with their speakers. */
const dialogue = [
  ["rms", "good morning and welcome to the meeting of today"],
  ["en+f3", "thank you it is good to be here again with all of you"],
  ["rms", "first we should talk about the budget of the coming year"],
  ["en+f3", "I have looked at the numbers and they do not look so good"],
] as const;

/** The beginning of the dialogue, shorter than 30 s, in base64. */
let dialogueContent: string;
let dialogueWav: Buffer;
let folder: string;
let service: TestService;
let host: MediaHost;
/** Google's client over gRPC, and over REST. */
let google: SpeechClient;
let googleRest: SpeechClient;
let environment: Record<string, string>;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-models-"));
  environment = {
    HLUST_DATA: join(folder, "data"),
    HLUST_MODELS: join(folder, "models"),
    HLUST_CATALOGUE: join(folder, "catalogue.json"),
  };
  const spoken = dialogue.flatMap(([voice, text]) => [
    voice === "rms" ? flite(text, { voice }) : espeak(text, { voice }),
    silence(700),
  ]);
  const { buffer, byteOffset, byteLength } = joined(...spoken);
  dialogueContent = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  dialogueWav = wavOf(joined(...spoken));
  host = await openMediaHost({
    "/hello.wav": wavOf(joined(silence(300), espeak("góðan daginn"), silence(500))),
    "/dialogue.wav": dialogueWav,
  });
  const { HLUST_MODELS = "" } = environment;
  service = await openTestService({ HLUST_MODELS });
  const { hostname: apiEndpoint, port } = new URL(service.address);
  const endpoint = { apiEndpoint, port: Number(port), apiKey: service.key };
  google = new SpeechClient({ ...endpoint, sslCreds: credentials.createInsecure() });
  googleRest = new SpeechClient({ ...endpoint, fallback: true, protocol: "http" });
});
after(async () => {
  await Promise.all([google.close(), googleRest.close()]);
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const models = (...args: string[]): Promise<EndedCommand> =>
  runHlust(["models", ...args], environment);

async function loadedModels(): Promise<string[]> {
  return (await listModels()).map(({ name }) => name);
}

async function listModels(): Promise<{ readonly name: string; readonly sizeBytes: string }[]> {
  return (await service.call("GET", "/v2beta1/models")).json.models;
}

/**
 * Creates an archive of the starter model, and its catalog entry as a Faroese model. `change`
 * damages the files first.
 */
function publish(url: string, change: (folder: string) => void = () => {}): Buffer {
  const upstream = mkdtempSync(join(folder, "upstream-"));
  cpSync(starter, upstream, { recursive: true });
  const card = JSON.parse(readFileSync(join(upstream, "model.json"), "utf8"));
  const files = Object.entries<{ path: string }>(card.files).map(
    ([part, { path }]) => [part, { path }] as const,
  );
  change(upstream);
  const downloads = [{ url: `${url}/faroese.tar.bz2`, unpack: "tar.bz2" }];
  const entry = { ...card, name: "faroese", languageCodes: ["fo-FO"], downloads };
  const catalogue = { models: [{ ...entry, files: Object.fromEntries(files) }] };
  writeFileSync(join(folder, "catalogue.json"), JSON.stringify(catalogue));
  return execFileSync("tar", ["-cj", "-C", upstream, "."], { maxBuffer: 64 << 20 });
}

test("a pulled model is used by the running service, until it is removed", async () => {
  let archive: Buffer = Buffer.alloc(0);
  await using server = await serveDownloads((_request, response) => response.end(archive));
  archive = publish(server.url, (upstream) => {
    const model = join(upstream, "model.onnx");
    writeFileSync(model, readFileSync(model).subarray(0, 2_000_000));
  });
  const broken = await models("pull", "faroese");
  assert.equal(broken.code, 1);
  assert.match(broken.errors, /faroese cannot be loaded: model\.onnx: is cut off/);
  assert.deepEqual(JSON.parse((await models("list", "--json")).out).refused, []);

  archive = publish(server.url);
  rmSync(join(folder, "models/.checksums.json"), { force: true });
  const pulled = await models("pull", "faroese");
  assert.equal(pulled.code, 0, pulled.errors);
  await until(async () => (await loadedModels()).includes("faroese"));
  const [faroese, ...others] = await listModels();
  const { sizeBytes, ...facts } = faroese ?? assert.fail("none");
  const expected = { languageCodes: ["fo-FO"], uses: ["LIVE", "SHORT", "JOB"], version: "3" };
  assert.deepEqual(facts, { name: "faroese", takesHints: true, ...expected });
  assert.ok(Number(sizeBytes) > 1_000_000, sizeBytes);
  assert.deepEqual(
    others.map(({ name }) => name),
    ["is-IS-starter", "pocketsphinx-en-US"],
  );
  const wav = join(folder, "hello.wav");
  writeFileSync(wav, wavOf(joined(silence(300), espeak("góðan daginn"), silence(500))));
  const tried = await models("test", "faroese", wav);
  assert.match(tried.out, /^góðan daginn\n\n1\.\d s of audio in \d+\.\d s: 0\.\d+ of real time\n$/);

  const { json } = await submit(service, `${host.address}/hello.wav`, { languageCode: "fo-FO" });
  const { last } = await pollJob(service, json.name);
  const transcript = await service.call("GET", `/v1alpha1/${last.transcript}`);
  assert.equal(textOf(transcript.json), "góðan daginn");

  assert.equal((await models("remove", "faroese")).code, 0);
  await until(async () => !(await loadedModels()).includes("faroese"));
  const refused = await submit(service, `${host.address}/hello.wav`, { languageCode: "fo-FO" });
  assert.equal(refused.status, 400);
  assert.match(
    refused.json.message,
    /is "fo-FO", which has no installed model; installed: en-US, is-IS/,
  );
});

const dialogueConfig = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" };

/** Recognizes the beginning of the dialogue with this diarizationConfig. */
async function recognizeDialogue(diarizationConfig: unknown) {
  const body = {
    config: { ...dialogueConfig, diarizationConfig },
    audio: { content: dialogueContent },
  };
  return await service.call("POST", "/v2beta1/speech:recognize", body);
}

/** Returns the speaker tags of all words of an operation with this diarizationConfig. */
async function speakersOfOperation(
  client: SpeechClient,
  diarizationConfig: protos.google.cloud.speech.v1.ISpeakerDiarizationConfig | undefined,
) {
  const [operation] = await client.longRunningRecognize(
    {
      // Speakers are found independently of the words. This language takes the least time.
      config: { languageCode: "is-IS", ...(diarizationConfig && { diarizationConfig }) },
      audio: { uri: `${host.address}/dialogue.wav` },
    },
    { otherArgs: { headers: { "x-goog-api-key": service.key } } },
  );
  operation.backoffSettings.initialRetryDelayMillis = 100;
  operation.backoffSettings.maxRetryDelayMillis = 500;
  const [{ results }] = await operation.promise();
  return (results ?? []).flatMap(
    ({ alternatives }) => alternatives?.[0]?.words?.map(({ speakerTag }) => speakerTag) ?? [],
  );
}

/** Asks for the speakers of the dialogue as clients of OpenAI do (docs/dialects.md). */
async function diarize(): Promise<string> {
  const form = new FormData();
  const fields = { language: "is", response_format: "diarized_json", stream: "true" };
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([new Uint8Array(dialogueWav)]), "dialogue.wav");
  const headers = { authorization: `Bearer ${service.key}` };
  const path = "/v1/audio/transcriptions";
  const answer = await fetch(`${service.address}${path}`, { method: "POST", headers, body: form });
  assert.equal(answer.status, 200);
  return await answer.text();
}

/** Returns the speaker tags of all words. */
function tagsOf(json: {
  readonly results: readonly {
    readonly alternatives: readonly { readonly words?: readonly { speakerTag?: number }[] }[];
  }[];
}): (number | undefined)[] {
  return json.results.flatMap(
    ({ alternatives: [first] }) => first?.words?.map(({ speakerTag }) => speakerTag) ?? [],
  );
}

test("words have no speakers without a diarization model, or with wrong counts of them", async () => {
  const field = "config.diarizationConfig";
  const rows: readonly [diarization: unknown, messages: readonly RegExp[]][] = [
    [
      { enableSpeakerDiarization: true },
      [/\.enableSpeakerDiarization: cannot be used: no diarization model is installed/],
    ],
    [{ minSpeakerCount: -1 }, [/\.minSpeakerCount: must be 0 to 20, not -1/]],
    [{ maxSpeakerCount: 21 }, [/\.maxSpeakerCount: must be 0 to 20, not 21/]],
    [
      { minSpeakerCount: 3, maxSpeakerCount: 2 },
      [/\.minSpeakerCount: must be at most maxSpeakerCount, which is 2, not 3/],
    ],
    [
      { enableSpeakerDiarization: true, minSpeakerCount: 30, maxSpeakerCount: -2 },
      [
        /\.enableSpeakerDiarization/,
        /\.minSpeakerCount: .* not 30/,
        /\.maxSpeakerCount: .* not -2/,
      ],
    ],
    [{ speakerTag: 1 }, [/speakerTag/]],
    [{ maxSpeakerCount: "two" }, [/maxSpeakerCount/]],
  ];
  for (const [diarization, messages] of rows) {
    const { status, json } = await recognizeDialogue(diarization);
    assert.equal(status, 400, JSON.stringify(json));
    for (const message of messages) assert.match(json.message, message);
    assert.match(json.message, new RegExp(field.replace(".", "\\.")));
  }
  const socket = await openStream(service.address, { token: service.key });
  const stream = { ...dialogueConfig, diarizationConfig: { enableSpeakerDiarization: true } };
  socket.send({ streamingConfig: { config: stream } });
  assert.equal(await socket.closed, 1007);
  assert.match(
    socket.messages.at(-1)?.error?.message ?? "",
    /config\.diarizationConfig\.enableSpeakerDiarization: cannot be used on streams/,
  );
  // Google's clients ask any model for speakers.
  assert.deepEqual(await speakersOfOperation(google, { enableSpeakerDiarization: true }), []);
  const { status } = await recognizeDialogue({ minSpeakerCount: 2, maxSpeakerCount: 2 });
  assert.equal(status, 200, "nothing is requested");
});

test("jobs name speakers once a diarization model is installed", async () => {
  const added = await models("add", join(testModels, "diarization"));
  assert.equal(added.code, 0, added.errors);
  await until(async () => (await loadedModels()).includes("diarization"));
  const { json } = await submit(service, `${host.address}/dialogue.wav`, {
    speakers: { "2": speaker("Guðrún") },
    // Speakers are found independently of the words. This language takes the least time.
    languageCode: "is-IS",
  });
  const { last } = await pollJob(service, json.name, 120);
  assert.equal(last.state, "SUCCESS");
  const transcript = (await service.call("GET", `/v1alpha1/${last.transcript}`)).json;
  const speakers = transcript.segments.map(({ speakerId }: { speakerId: string }) => speakerId);
  // An utterance can be split in two, but no speaker is confused with another.
  const turns = speakers.filter((id: string, index: number) => id !== speakers[index - 1]);
  assert.deepEqual(turns, ["1", "2", "1", "2"]);
  const names = { "1": speaker("Mælandi 1"), "2": speaker("Guðrún") };
  assert.deepEqual(transcript.metadata.speakers, names);

  const answer = await recognizeDialogue({ enableSpeakerDiarization: true });
  assert.equal(answer.status, 200, JSON.stringify(answer.json));
  const tags = tagsOf(answer.json);
  assert.deepEqual(
    tags.filter((tag, index) => tag !== tags[index - 1]),
    [1, 2, 1, 2],
  );
  const single = await recognizeDialogue({ enableSpeakerDiarization: true, maxSpeakerCount: 1 });
  assert.deepEqual(new Set(tagsOf(single.json)), new Set([1]));
  const turnsOf = <T>(speakers: readonly T[]) => {
    return speakers.filter((name, index) => name !== speakers[index - 1]);
  };
  const events = await diarize();
  const sent = Array.from(events.matchAll(/"speaker":"(.)"/g), ([, name = ""]) => name);
  assert.deepEqual(turnsOf(sent), ["A", "B", "A", "B"]);
  assert.match(events, /event: transcript\.text\.delta\ndata: .*"segment_id":"seg_001"/);
  for (const client of [google, googleRest]) {
    const wanted = { enableSpeakerDiarization: true, maxSpeakerCount: 2 };
    assert.deepEqual(turnsOf(await speakersOfOperation(client, wanted)), [1, 2, 1, 2]);
    // Words without tags are left out unless they are asked for.
    assert.deepEqual(await speakersOfOperation(client, undefined), []);
  }
  const untagged = await recognizeDialogue({ enableSpeakerDiarization: false });
  assert.doesNotMatch(JSON.stringify(untagged.json), /speakerTag|words/);

  assert.equal((await models("remove", "diarization")).code, 0);
  await until(async () => !(await loadedModels()).includes("diarization"));
});
