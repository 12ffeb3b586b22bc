// §4.1, §4.8 and §4.9 in Icelandic with the default models, alone and together with English on one
// service.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { espeak, espeakWords, flite, joined, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { assertWordTimes } from "../fixtures/word-times.ts";
import { fieldsOf, pollJob, submit, textOf } from "./jobs.ts";
import { type MediaHost, openMediaHost } from "./media-host.ts";
import { openTestService, type TestService } from "./service.ts";
import { finalsOf, openStream, secondsOf, streamingConfig } from "./stream.ts";

const sentences = ["góðan daginn", "veðrið er gott í dag", "takk fyrir komuna"];
const english = "the weather is cold and dark today";
const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "is-IS" };
/** English speech with a name that is recognized only with a hint, and the hint. */
const named = () =>
  joined(silence(300), flite("I met Siobhan Kowalczyk at the station."), silence(500));
const namedText = "i met Siobhan Kowalczyk at the station";
const nameContexts = [{ phrases: ["Siobhan Kowalczyk"] }];

let service: TestService;
let host: MediaHost;
/** The sentences, with a second of silence around each. */
let talk: Int16Array;
let englishTalk: Int16Array;
/** Words whose times are known. */
const timed = espeakWords("góðan daginn veðrið er gott í dag takk fyrir klukkan er tólf", 300);

before(async () => {
  const pause = silence(1000);
  talk = joined(pause, ...sentences.flatMap((sentence) => [espeak(sentence), pause]));
  englishTalk = joined(silence(300), flite(english), pause);
  host = await openMediaHost({
    "/talk.wav": wavOf(talk),
    "/english.wav": wavOf(englishTalk),
    "/timed.wav": wavOf(timed.samples),
    "/named.wav": wavOf(named()),
  });
  service = await openTestService({ HLUST_ENGINE_PROCESSES: "2" });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const bytesOf = (samples: Int16Array) =>
  Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

const recognize = (samples: Int16Array, changes: Readonly<Record<string, unknown>> = {}) =>
  service.call("POST", "/v2beta1/speech:recognize", {
    config: { ...config, ...changes },
    audio: { content: bytesOf(samples).toString("base64") },
  });

/** Works like recognize(), but retries after 429, which a slow machine may return. */
async function recognizeInTime(...call: Parameters<typeof recognize>) {
  for (let triesLeft = 60; ; triesLeft--) {
    const answer = await recognize(...call);
    if (answer.status !== 429 || triesLeft === 0) return answer;
    await sleep(500);
  }
}

/** Returns the best text of each result. */
const textsOf = (json: { results: { alternatives: { transcript: string }[] }[] }) =>
  json.results.map(({ alternatives }) => alternatives[0]?.transcript);

/**
 * Sends these samples on a live stream without pauses. Retries after 1013, with which a full
 * service refuses a stream.
 */
async function recognizeLive(samples: Int16Array, languageCode: string) {
  for (let triesLeft = 60; ; triesLeft--) {
    const socket = await openStream(service.address, { token: service.key });
    socket.send(streamingConfig({ languageCode, enableWordTimeOffsets: true }));
    socket.sendAudio(bytesOf(samples), 3200);
    socket.send({ audioContent: "" });
    const code = await socket.closed;
    if (code === 1000) return socket.messages;
    assert.equal(code, 1013);
    assert.ok(triesLeft > 0, "full for a minute");
    await sleep(1000);
  }
}

test("recognize() transcribes Icelandic: text, distinct alternatives, confidences, words and times", async () => {
  const { status, json } = await recognize(talk, {
    enableWordTimeOffsets: true,
    maxAlternatives: 10,
  });
  assert.equal(status, 200);
  assert.deepEqual(textsOf(json), sentences);
  let endBefore = 0.8;
  for (const [index, { alternatives }] of json.results.entries()) {
    const texts = alternatives.map(({ transcript }: { transcript: string }) => transcript);
    assert.ok(texts.length > 1 && texts.length <= 10);
    assert.equal(new Set(texts).size, texts.length);
    const [{ words, confidence }] = alternatives;
    assert.ok(confidence > 0 && confidence <= 1);
    assert.equal(words.map(({ word }: { word: string }) => word).join(" "), sentences[index]);
    for (const word of words) {
      assert.ok(secondsOf(word.startTime) >= endBefore, "each word begins after the previous one");
      assert.ok(secondsOf(word.endTime) > secondsOf(word.startTime));
      assert.ok(word.confidence > 0 && word.confidence <= 1);
      endBefore = secondsOf(word.endTime);
    }
    // There is a second of silence between the sentences.
    endBefore += 0.7;
  }
});

test("a live stream recognizes Icelandic while it is spoken", async () => {
  const messages = await recognizeLive(talk, "is-IS");
  const finals = finalsOf(messages);
  assert.deepEqual(
    finals.map(({ transcript }) => transcript),
    sentences.map((sentence) => `${sentence} `),
  );
  const interim = messages
    .flatMap(({ result }) => result?.results ?? [])
    .filter(({ isFinal }) => isFinal === undefined);
  assert.ok(interim.length >= 6, `${interim.length} interim results`);
  const times = finals.flatMap(({ words = [] }) => words.map((word) => secondsOf(word.startTime)));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.ok((times[0] ?? 0) > 0.8 && (times.at(-1) ?? Infinity) < talk.length / 16_000);
});

test("words of calls, live streams and jobs begin where they were spoken", async () => {
  type Word = { readonly startTime: string; readonly word: string };
  const check = (words: readonly Word[]): void => {
    const recognized = words.map(({ startTime, word }) => {
      return { text: word.trim(), startMs: 1000 * secondsOf(startTime) };
    });
    assertWordTimes(timed.words, recognized, { recognizedShareMin: 0.9 });
  };
  const { json } = await recognize(timed.samples, { enableWordTimeOffsets: true });
  check(
    json.results.flatMap(
      ({ alternatives }: { alternatives: { words: Word[] }[] }) => alternatives[0]?.words ?? [],
    ),
  );
  check(finalsOf(await recognizeLive(timed.samples, "is-IS")).flatMap(({ words = [] }) => words));
  const submitted = await submit(service, `${host.address}/timed.wav`, { languageCode: "is-IS" });
  const { last } = await pollJob(service, submitted.json.name);
  const transcript = await service.call("GET", `/v1alpha1/${last.transcript}`);
  check(transcript.json.segments.flatMap(({ words }: { words: Word[] }) => words));
});

test("a job transcribes Icelandic, even with its experimental language code", async () => {
  for (const languageCode of ["is-IS", "is-IS-x-exp"]) {
    const submitted = await submit(service, `${host.address}/talk.wav`, { languageCode });
    assert.equal(submitted.status, 200);
    const { last } = await pollJob(service, submitted.json.name);
    assert.equal(last.state, "SUCCESS");
    const { json } = await service.call("GET", `/v1alpha1/${last.transcript}`);
    assert.equal(textOf(json), sentences.join(" "));
    assert.equal(json.metadata.languageCode, languageCode);
    assert.deepEqual(
      json.segments.map(({ speakerId }: { speakerId: string }) => speakerId),
      sentences.map(() => ""),
      "there are no speakers without a diarization model",
    );
    assert.deepEqual(json.metadata.speakers, {});
  }
});

test("streams, calls and jobs in two languages run concurrently on one service", async () => {
  const streams = Array.from({ length: 8 }, async (_, index) => {
    const isIcelandic = index > 1;
    const messages = await recognizeLive(
      isIcelandic ? talk : englishTalk,
      isIcelandic ? "is-IS" : "en-US",
    );
    const found = finalsOf(messages).map(({ transcript }) => transcript.trim());
    assert.deepEqual(found, isIcelandic ? sentences : [english]);
  });
  const calls = Array.from({ length: 4 }, async (_, index) => {
    const isIcelandic = index % 2 === 0;
    const { json } = isIcelandic
      ? await recognizeInTime(talk)
      : await recognizeInTime(englishTalk, { languageCode: "en-US" });
    assert.deepEqual(textsOf(json), isIcelandic ? sentences : [english]);
  });
  const rows = [
    ["talk.wav", "is-IS", sentences.join(" ")],
    ["english.wav", "en-US", english],
  ] as const;
  const jobs = rows.map(async ([file, languageCode, text]) => {
    const { json } = await submit(service, `${host.address}/${file}`, { languageCode });
    const { last } = await pollJob(service, json.name);
    const transcript = await service.call("GET", `/v1alpha1/${last.transcript}`);
    assert.equal(textOf(transcript.json), text);
  });
  await Promise.all([...streams, ...calls, ...jobs]);
});

test("hints are used in both languages, written as the caller writes them, and refused with the name of each field", async () => {
  const speechContexts = [{ phrases: ["veðrið", "Guðrún Ósvífursdóttir"], boost: 5 }];
  const { status, json } = await recognize(talk, { speechContexts });
  assert.equal(status, 200);
  assert.deepEqual(textsOf(json), sentences);
  const own = [{ phrases: ["Takk"] }];
  const written = await recognize(talk, { speechContexts: own });
  assert.deepEqual(textsOf(written.json), [...sentences.slice(0, 2), "Takk fyrir komuna"]);

  const inEnglish = { languageCode: "en-US" };
  const texts = [];
  for (const contexts of [[], nameContexts, []]) {
    const answer = await recognizeInTime(named(), { ...inEnglish, speechContexts: contexts });
    texts.push(textsOf(answer.json).join(" "));
  }
  assert.equal(texts[1], namedText);
  assert.doesNotMatch(texts[0] ?? "", /Siobhan Kowalczyk/i);
  assert.equal(texts[2], texts[0], "the hints of a call apply to that call alone");
  // A name that is read as it is not written.
  const alike = [{ phrases: ["Siobhan"] }, { phrases: ["Wqzt"], soundsLike: ["Kowalczyk"] }];
  const read = await recognizeInTime(named(), { ...inEnglish, speechContexts: alike });
  assert.equal(textsOf(read.json).join(" "), "i met Siobhan Wqzt at the station");
  const none = await recognize(englishTalk, { languageCode: "en-US", speechContexts: [] });
  assert.equal(none.status, 200);
  const many = Array.from({ length: 501 }, (_, index) => `orð ${index}`);
  const rows: [contexts: unknown, field: string, problem: RegExp][] = [
    [[{ phrases: [many[0], ""] }], "config.speechContexts[0].phrases[1]", /has no letter or digit/],
    [[{ phrases: ["…"] }], "config.speechContexts[0].phrases[0]", /has no letter or digit/],
    [
      [{ phrases: ["x".repeat(101)] }],
      "config.speechContexts[0].phrases[0]",
      /has 101 characters; at most 100 are allowed/,
    ],
    [
      [{ phrases: ["Anna", "anna"] }],
      "config.speechContexts[0].phrases[1]",
      /is "anna", which config\.speechContexts\[0\]\.phrases\[0\] has already/,
    ],
    [
      [{ phrases: ["a", "b"], soundsLike: ["c"] }],
      "config.speechContexts[0].soundsLike",
      /needs exactly one phrase, not 2/,
    ],
    [[{ phrases: ["a\tb"] }], "config.speechContexts[0].phrases[0]", /has a control character/],
    [[{ phrases: many }], "config.speechContexts", /has 501 phrases; at most 500 are allowed/],
    [
      [{ phrases: ["a"], boost: 20.5 }],
      "config.speechContexts[0].boost",
      /must be 0 to 20, not 20\.5/,
    ],
    [[{ phrases: ["a"], boost: -1 }], "config.speechContexts[0].boost", /must be 0 to 20, not -1/],
    [
      [{ phrases: ["a"], boost: "NaN" }],
      "config.speechContexts[0].boost",
      /must be 0 to 20, not NaN/,
    ],
    [[{ phrases: "a" }], "config.speechContexts[0].phrases", /./],
  ];
  for (const [contexts, field, problem] of rows) {
    const answer = await recognize(talk, { speechContexts: contexts });
    assert.equal(answer.status, 400, field);
    const bad = answer.json.details.find((each: { "@type": string }) =>
      each["@type"].endsWith("BadRequest"),
    );
    const [violation] = bad.fieldViolations;
    assert.equal(violation.field, field);
    assert.match(violation.description, problem);
  }
});

test("hints of a live stream are checked with its configuration, and used in both languages", async () => {
  const refused = await openStream(service.address, { token: service.key });
  refused.send(streamingConfig({ speechContexts: [{ phrases: ["cold", ""] }] }));
  assert.equal(await refused.closed, 1007);
  assert.match(refused.messages[0]?.error?.message ?? "", /phrases\[1\]: has no letter or digit/);
  const rows = [
    ["is-IS", talk, [{ phrases: ["Komuna"] }], "takk fyrir Komuna "],
    ["en-US", named(), nameContexts, `${namedText} `],
  ] as const;
  for (const [languageCode, samples, speechContexts, expected] of rows) {
    const socket = await openStream(service.address, { token: service.key });
    socket.send(streamingConfig({ languageCode, speechContexts }));
    socket.sendAudio(bytesOf(samples), 3200);
    socket.send({ audioContent: "" });
    assert.equal(await socket.closed, 1000);
    assert.equal(finalsOf(socket.messages).at(-1)?.transcript, expected);
  }
});

test("jobs use hints in both languages, and a job names every violation in them", async () => {
  const uri = `${host.address}/named.wav`;
  const request = { metadata: { languageCode: "en-US", fileType: "AUDIO" }, useUri: true, uri };
  const submitHinted = (changes: Readonly<Record<string, unknown>>) =>
    service.call("POST", "/v1alpha1/transcriptjob:submit", { ...request, ...changes });
  const refused = await submitHinted({ speechContexts: [{ phrases: ["Anna", "ANNA", "!"] }] });
  assert.equal(refused.status, 400);
  assert.deepEqual(fieldsOf(refused), [
    "speechContexts[0].phrases[1]",
    "speechContexts[0].phrases[2]",
  ]);
  const icelandic = { metadata: { languageCode: "is-IS", fileType: "AUDIO" } };
  const rows = [
    [{ speechContexts: nameContexts }, namedText],
    [
      { ...icelandic, uri: `${host.address}/talk.wav`, speechContexts: [{ phrases: ["Komuna"] }] },
      [...sentences.slice(0, 2), "takk fyrir Komuna"].join(" "),
    ],
  ] as const;
  for (const [changes, expected] of rows) {
    const submitted = await submitHinted(changes);
    assert.equal(submitted.status, 200);
    const { last } = await pollJob(service, submitted.json.name);
    const transcript = await service.call("GET", `/v1alpha1/${last.transcript}`);
    assert.equal(textOf(transcript.json), expected);
  }
});
