// Word times of a model that gives none: marked as estimated in results and transcripts, until an
// alignment job finds them.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { flite, joined, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { englishText } from "../fixtures/published-models/published-file.ts";
import { whisperFiles } from "../fixtures/published-models/whisper.ts";
import { sherpaCard } from "../fixtures/sherpa-models.ts";
import { AlignmentCalls } from "./alignment.ts";
import { pollJob, submit } from "./jobs.ts";
import { openMediaHost, type MediaHost } from "./media-host.ts";
import { openTestService, type TestService } from "./service.ts";
import { finalsOf, openStream, secondsOf, streamingConfig } from "./stream.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-estimated-"));
/** What the model outputs for any speech is said here. */
const speech = joined(silence(300), flite(englishText), silence(900));
let service: TestService;
let host: MediaHost;

before(async () => {
  const model = join(folder, "whisper-test");
  mkdirSync(model);
  const files = whisperFiles({
    name: "tiny.en",
    mels: 80,
    isMultilingual: false,
    hasFloats: false,
  });
  const card = sherpaCard({
    name: "whisper-test",
    kind: "whisper",
    languageCodes: ["en-US"],
    preference: 100,
    files: {
      encoder: { path: "tiny.en-encoder.int8.onnx" },
      decoder: { path: "tiny.en-decoder.int8.onnx" },
      tokens: { path: "tiny.en-tokens.txt" },
    },
  });
  for (const [path, content] of Object.entries(files)) {
    if (!path.includes("/")) writeFileSync(join(model, path), content);
  }
  writeFileSync(join(model, "model.json"), JSON.stringify(card));
  host = await openMediaHost({ "/speech.wav": wavOf(speech) });
  service = await openTestService({ HLUST_MODELS: folder, HLUST_LOG: "silent" });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

interface Word {
  readonly word: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly estimatedTimes?: boolean;
}

const bytes = Buffer.from(speech.buffer, speech.byteOffset, speech.byteLength);

/** Asserts that these are the two words of the model, one after the other, with the mark. */
function assertEstimated(words: readonly Word[] = []): void {
  assert.deepEqual(
    words.map(({ word, estimatedTimes }) => [word.trim(), estimatedTimes]),
    englishText.split(" ").map((word) => [word, true]),
  );
  const [one, other] = words;
  assert.ok(one && other && secondsOf(one.endTime) === secondsOf(other.startTime));
  assert.ok(secondsOf(one.startTime) < secondsOf(one.endTime));
  assert.ok(secondsOf(other.endTime) <= speech.length / 16_000);
}

test("recognize() and streams mark word times that they estimate", async () => {
  const { json } = await service.call("POST", "/v2beta1/speech:recognize", {
    config: {
      encoding: "LINEAR16",
      sampleRateHertz: 16_000,
      languageCode: "en-US",
      enableWordTimeOffsets: true,
    },
    audio: { content: bytes.toString("base64") },
  });
  assertEstimated(json.results[0].alternatives[0].words);
  const stream = await openStream(service.address, { token: service.key });
  stream.send(streamingConfig({ languageCode: "en-US", enableWordTimeOffsets: true }));
  stream.sendAudio(bytes);
  stream.send({ audioContent: "" });
  assert.equal(await stream.closed, 1000);
  assertEstimated(finalsOf(stream.messages)[0]?.words);
});

test("a job marks them, and an alignment job finds the times and removes the mark", async () => {
  const submitted = await submit(service, `${host.address}/speech.wav`);
  const { last } = await pollJob(service, submitted.json.name);
  assert.equal(last.state, "SUCCESS", JSON.stringify(last));
  const calls = new AlignmentCalls(service);
  const wordsOf = async (): Promise<Word[]> => {
    const { segments } = await calls.get(last.transcript);
    return segments.flatMap(({ words }: { words: Word[] }) => words);
  };
  assertEstimated(await wordsOf());
  const { state, error } = await calls.ended(await calls.begin(last.transcript));
  assert.equal(state, "SUCCESS", JSON.stringify(error));
  const aligned = await wordsOf();
  assert.deepEqual(
    aligned.map((word) => [word.word.trim(), "estimatedTimes" in word]),
    englishText.split(" ").map((word) => [word, false]),
  );
});
