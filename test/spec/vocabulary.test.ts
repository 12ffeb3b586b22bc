// The vocabulary of an account (extension), and what recognition by the starter model makes of it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { espeak, joined, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";
import { pollJob, submit, textOf } from "./jobs.ts";
import { type MediaHost, openMediaHost } from "./media-host.ts";
import { callRest, openTestService, type TestService } from "./service.ts";
import { finalsOf, openStream, streamingConfig } from "./stream.ts";
import { draftOf, segmentOf } from "./transcripts.ts";

/** Words that the starter model does not have in its lexicon. */
const names = ["Eyjafjallajökull", "Hallgrímskirkja", "fjármálaráðherra", "kjarnorkuver"];
const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "is-IS" };

let service: TestService;
let host: MediaHost;
let database: Database;
/** A key of another account. */
let stranger: string;
before(async () => {
  service = await openTestService();
  const weather = joined(silence(500), espeak("veðrið er gott í dag"), silence(500));
  const recordings = names.map((name, index) => {
    const samples = joined(silence(500), espeak(sentenceOf(name)), silence(500));
    return [`/${index}.wav`, wavOf(samples)] as const;
  });
  host = await openMediaHost({
    "/weather.wav": wavOf(weather),
    ...Object.fromEntries(recordings),
  });
  database = await openDatabase({
    url: undefined,
    folder: join(service.dataFolder, "postgres"),
    log: createLog("silent"),
  });
  const accountId = await addAccount(database.db);
  stranger = (await addApiKey(database.db, accountId, ["speech"])).token;
});
after(async () => {
  await database[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const sentenceOf = (name: string) => `hér er ${name} í dag`;

function audioOf(name: string): Buffer {
  const samples = espeak(sentenceOf(name));
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** Returns the best text. A slow machine may be too busy for a while. */
async function recognize(audio: Buffer, changes = {}, key = service.key): Promise<string> {
  for (let triesLeft = 60; ; triesLeft--) {
    const { status, json } = await callRest(service.address, key, {
      method: "POST",
      path: "/v2beta1/speech:recognize",
      body: { config: { ...config, ...changes }, audio: { content: audio.toString("base64") } },
    });
    if (status === 200) return json.results[0]?.alternatives[0].transcript ?? "";
    assert.ok(status === 429 && triesLeft > 0, JSON.stringify(json));
    await sleep(500);
  }
}

async function recognizeLive(audio: Buffer, changes = {}): Promise<string> {
  for (let triesLeft = 60; ; triesLeft--) {
    const socket = await openStream(service.address, { token: service.key });
    socket.send(streamingConfig({ languageCode: "is-IS", ...changes }));
    socket.sendAudio(audio, 3200);
    socket.send({ audioContent: "" });
    const code = await socket.closed;
    if (code === 1000) return finalsOf(socket.messages)[0]?.transcript ?? "";
    assert.ok(code === 1013 && triesLeft > 0, `${code}`);
    await sleep(500);
  }
}

test("recognition uses the vocabulary of its account, unless the call ignores it", async () => {
  const has = (text: string, name: string) =>
    ` ${text.toLowerCase()} `.includes(` ${name.toLowerCase()} `);
  const wrong: string[] = [];
  for (const name of names) {
    if (!has(await recognize(audioOf(name)), name)) wrong.push(name);
  }
  assert.ok(wrong.length > 0, "every name is recognized without the vocabulary");
  const phrases = names.map((phrase) => ({ phrase, languageCode: "is-is", weight: 15 }));
  const imported = await service.call("POST", "/v2beta1/vocabularyPhrases:import", { phrases });
  assert.deepEqual(imported.json, { importedCount: names.length, skippedCount: 0 });
  // A change applies within a second.
  await until(async () => {
    for (const name of wrong) if (has(await recognize(audioOf(name)), name)) return true;
    return false;
  }, 60_000);
  // A busy service recognizes with less effort, so each way may need another name.
  const isOfUse = async (recognizeName: (name: string, changes: object) => Promise<string>) => {
    for (const name of names) {
      if (has(await recognizeName(name, { ignoreVocabulary: true }), name)) continue;
      if (has(await recognizeName(name, {}), name)) return true;
    }
    return false;
  };
  assert.ok(await isOfUse((name, changes) => recognize(audioOf(name), changes)), "in a call");
  assert.ok(await isOfUse((name, changes) => recognizeLive(audioOf(name), changes)), "in a stream");
  assert.ok(
    await isOfUse(async (name, changes) => {
      return textOf(await recognizeJob(`/${names.indexOf(name)}.wav`, changes));
    }),
    "in a job",
  );
  const isOfAccount = await isOfUse(
    (name, { ignoreVocabulary = false }: { ignoreVocabulary?: boolean }) =>
      recognize(audioOf(name), {}, ignoreVocabulary ? stranger : service.key),
  );
  assert.ok(isOfAccount, "for another account");
});

/** Submits audio as a job, and returns its transcript. */
async function recognizeJob(path: string, changes = {}) {
  const metadata = { languageCode: "is-IS" };
  const { json: job } = await submit(service, `${host.address}${path}`, metadata, changes);
  const { last } = await pollJob(service, job.name);
  assert.equal(last.state, "SUCCESS", JSON.stringify(last));
  return (await service.call("GET", `/v1alpha1/${last.transcript}`)).json;
}

const phrasesOf = async (query = "") => {
  const { json } = await service.call("GET", `/v2beta1/vocabularyPhrases${query}`);
  return json.phrases.map(({ phrase, state, source, correctionCount }: Record<string, unknown>) =>
    [phrase, state, source, correctionCount].join(" "),
  );
};

test("an editor's corrections of recognized words are offered, and a rejected one only once", async () => {
  let { name, version, segments } = await recognizeJob("/weather.wav");
  assert.equal(textOf({ segments }), "veðrið er gott í dag");
  /** Replaces a word of the text, and saves. */
  const correct = async (word: string, other: string, by: "PATCH" | "ranges") => {
    const changed = structuredClone(segments);
    for (const each of changed[0].words) {
      if (each.word.trim() === word) each.word = each.word.replace(word, other);
    }
    const [verb, path, body] =
      by === "PATCH"
        ? ["PATCH", `/v1alpha1/${name}`, { segments: changed }]
        : [
            "POST",
            `/v1alpha1/${name}:modifySegments`,
            { changes: [{ startIndex: 0, endIndex: 1, segments: changed }] },
          ];
    const saved = await service.call(verb, path, body, { "if-match": version.name });
    assert.equal(saved.status, 200, JSON.stringify(saved.json));
    ({ version } = saved.json);
    segments = changed;
  };
  await correct("gott", "Sævarendi", "ranges");
  await correct("dag", "Kópaskeri", "PATCH");
  const candidates = "?state=CANDIDATE";
  const first = ["Kópaskeri CANDIDATE EDITOR 1", "Sævarendi CANDIDATE EDITOR 1"];
  assert.deepEqual(await phrasesOf(candidates), first);
  // A number, and capitals, do not count.
  await correct("veðrið", "Veðrið", "PATCH");
  await correct("er", "tólf", "ranges");
  assert.deepEqual(await phrasesOf(candidates), first);
  const { json } = await service.call("GET", `/v2beta1/vocabularyPhrases${candidates}`);
  const [, rejected] = json.phrases;
  await service.call("PATCH", `/v2beta1/${rejected.name}`, { state: "REJECTED" });
  await correct("Sævarendi", "veður", "ranges");
  await correct("veður", "sævarendi", "PATCH");
  assert.deepEqual(await phrasesOf("?state=REJECTED"), ["Sævarendi REJECTED EDITOR 2"]);
  assert.deepEqual(await phrasesOf(candidates), [
    "Kópaskeri CANDIDATE EDITOR 1",
    "veður CANDIDATE EDITOR 1",
  ]);
  await service.call("PATCH", "/v1/account", { vocabularyCandidatesDisabled: true });
  await correct("Kópaskeri", "Húsavík", "ranges");
  await correct("Húsavík", "Þórshöfn", "PATCH");
  await service.call("PATCH", "/v1/account", { vocabularyCandidatesDisabled: false });
  assert.equal((await phrasesOf(candidates)).length, 2);
});

test("an edit of a transcript that no job recognized offers nothing", async () => {
  const before = await phrasesOf();
  const { json } = await service.call("POST", "/v1alpha1/transcripts", draftOf("Fundur"));
  const path = `/v1alpha1/${json.name}`;
  const saved = await service.call("PATCH", path, { segments: [segmentOf("góðan Skúladag ")] });
  assert.equal(saved.status, 200);
  const headers = { "if-match": saved.json.version.name };
  const changes = [{ startIndex: 0, endIndex: 1, segments: [segmentOf("góðan Rúnudag ")] }];
  const modified = await service.call("POST", `${path}:modifySegments`, { changes }, headers);
  assert.equal(modified.status, 200);
  assert.deepEqual(await phrasesOf(), before);
});

test("invalid phrases are named, each at once", async () => {
  const { status, json } = await service.call("POST", "/v2beta1/vocabularyPhrases:import", {
    phrases: [
      { phrase: "", languageCode: "is-IS" },
      { phrase: "Akrafjall 🏔️", languageCode: "is-IS" },
      { phrase: "Akra\u0001fjall", languageCode: "is-IS" },
      { phrase: "hallgrímskirkja", languageCode: "is-IS" },
      { phrase: "Esja", languageCode: "is-IS", weight: 21 },
      { phrase: "esja!", languageCode: "is-IS" },
    ],
  });
  assert.equal(status, 400);
  const bad = json.details.find((each: { fieldViolations?: unknown }) => each.fieldViolations);
  assert.deepEqual(
    bad.fieldViolations.map(({ field, description }: Record<string, string>) => [
      field,
      description,
    ]),
    [
      ["phrases[0].phrase", "is required"],
      ["phrases[1].phrase", "has an emoji, U+1F3D4"],
      ["phrases[2].phrase", "has a control character, U+0001"],
      ["phrases[4].weight", "must be 0 to 20, not 21"],
      ["phrases[5].phrase", "is the same as phrases[4]"],
      ["phrases[3].phrase", "is in the vocabulary already"],
    ],
  );
});
