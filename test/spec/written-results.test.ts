// enableAutomaticPunctuation, enableFormatting and profanityFilter of §4.8 and §4.9.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { espeak, flite, joined, silence } from "../fixtures/flite.ts";
import { checkStability } from "./check-stability.ts";
import { openTestService, type TestService } from "./service.ts";
import { finalsOf, openStream, secondsOf, streamingConfig } from "./stream.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service[Symbol.asyncDispose]());

const written = { enableAutomaticPunctuation: true, enableFormatting: true };
const bytesOf = (samples: Int16Array) =>
  Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

async function recognized(samples: Int16Array, config: Readonly<Record<string, unknown>>) {
  const { json } = await service.call("POST", "/v2beta1/speech:recognize", {
    config: { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US", ...config },
    audio: { content: bytesOf(joined(silence(300), samples, silence(800))).toString("base64") },
  });
  return json.results.map(
    ({ alternatives: [best] }: { alternatives: { transcript: string }[] }) => best,
  );
}

test("recognize() writes English: a sentence with an amount, its words and what was spoken", async () => {
  const samples = flite("the ticket costs two hundred and fifty dollars");
  const [plain] = await recognized(samples, {});
  assert.equal(plain.transcript, "the ticket costs two hundred and fifty dollars");
  const [best] = await recognized(samples, { ...written, enableWordTimeOffsets: true });
  assert.equal(best.transcript, "The ticket costs $250.");
  assert.deepEqual(
    best.words.map(({ word, spoken }: { word: string; spoken?: string }) => [word, spoken]),
    [
      ["The", undefined],
      ["ticket", undefined],
      ["costs", undefined],
      ["$250.", "two hundred and fifty dollars"],
    ],
  );
  const [costs, amount] = best.words.slice(2);
  assert.ok(secondsOf(amount.startTime) >= secondsOf(costs.endTime));
  assert.ok(secondsOf(amount.endTime) - secondsOf(amount.startTime) > 1, "the span of five words");
});

test("punctuation and formatting are requested on their own", async () => {
  const samples = flite("the answer is forty two percent");
  const texts = await Promise.all(
    [{ enableAutomaticPunctuation: true }, { enable_formatting: true }].map(
      async (config) => (await recognized(samples, config))[0].transcript,
    ),
  );
  assert.deepEqual(texts, ["The answer is forty two percent.", "the answer is 42%"]);
});

test("recognize() writes Icelandic: a date, an amount and a question", async () => {
  const rows = [
    ["hún kemur tuttugasta og fyrsta janúar", "Hún kemur 21. janúar."],
    ["það kostar tvö hundruð og fimmtíu krónur", "Það kostar 250 kr."],
    ["hvað er klukkan", "Hvað er klukkan?"],
  ] as const;
  for (const [spoken, expected] of rows) {
    const [best] = await recognized(espeak(spoken), { ...written, languageCode: "is-IS" });
    assert.equal(best.transcript, expected);
  }
});

test("profanityFilter masks all but the first letter", async () => {
  const samples = flite("this is a damn good idea");
  const [plain] = await recognized(samples, {});
  assert.match(plain.transcript, / damn /);
  const [masked] = await recognized(samples, { profanityFilter: true });
  assert.equal(masked.transcript, plain.transcript.replace("damn", "d***"));
});

test("a stream writes its results: interim ones without a mark at the end, and keeps numbers", async () => {
  const stream = await openStream(service.address, { token: service.key });
  stream.send(streamingConfig({ ...written, languageCode: "is-IS", enableWordTimeOffsets: true }));
  const speech = espeak("það kostar tvö hundruð og fimmtíu krónur");
  const question = espeak("hvað er klukkan");
  const samples = joined(silence(300), speech, silence(1_000), question, silence(1_000));
  stream.sendAudio(bytesOf(samples));
  stream.send({ audioContent: "" });
  assert.equal(await stream.closed, 1000);
  const finals = finalsOf(stream.messages);
  assert.deepEqual(
    finals.map(({ transcript }) => transcript),
    ["Það kostar 250 kr. ", "Hvað er klukkan? "],
  );
  const [first] = finals;
  const spoken = first?.words?.map((word) => ("spoken" in word ? word.spoken : word.word));
  assert.deepEqual(spoken, ["Það", "kostar", "tvö hundruð og fimmtíu", "krónur"]);
  const interims = stream.messages
    .flatMap(({ result }) => result?.results ?? [])
    .filter(({ isFinal }) => isFinal !== true)
    .map(({ alternatives }) => alternatives[0]?.transcript ?? "");
  assert.ok(interims.length > 0);
  for (const text of interims) assert.match(text, /^\p{Lu}.*(?<!\?)$/u);
  checkStability(stream.messages.flatMap(({ result }) => result?.results ?? []));
});
