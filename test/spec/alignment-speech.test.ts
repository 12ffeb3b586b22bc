// Alignment jobs with the default models: the times of corrected words move to where they are said.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { espeakWords, fliteWords, type TimedSpeech } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { AlignmentCalls } from "./alignment.ts";
import { textOf } from "./jobs.ts";
import { openTestService, type TestService } from "./service.ts";
import { segmentOf } from "./transcripts.ts";

let service: TestService;
let calls: AlignmentCalls;
before(async () => {
  service = await openTestService({ HLUST_LOG: "silent" });
  calls = new AlignmentCalls(service);
});
after(() => service[Symbol.asyncDispose]());

/** The maximum distance of a word's start from where it is said. */
const offMsMax = 150;

const rows: readonly [languageCode: string, speech: TimedSpeech][] = [
  ["is-IS", espeakWords("góðan daginn veðrið er gott í dag takk fyrir klukkan er tólf", 300)],
  ["en-US", fliteWords("the weather is cold and dark today but tomorrow will be better", "slt")],
];
for (const [languageCode, { samples, words }] of rows) {
  test(`words in ${languageCode} get the times of their sound`, async () => {
    const spoken = words.map(({ text }) => text).join(" ");
    // All words are at the start, an eighth of a second each.
    const name = await calls.create(wavOf(samples), {
      metadata: { fileType: "AUDIO", languageCode },
      segments: [segmentOf(spoken, 0, 0.125)],
    });
    const { state, error } = await calls.ended(await calls.begin(name));
    assert.equal(state, "SUCCESS", JSON.stringify(error));
    const transcript = await calls.get(name);
    assert.equal(textOf(transcript), spoken);
    const [{ words: found }] = transcript.segments;
    const offMs = words.map(({ startMs }, at) =>
      Math.round(Number.parseFloat(found[at].startTime) * 1000 - startMs),
    );
    const far = offMs.filter((ms) => Math.abs(ms) > offMsMax);
    assert.ok(far.length <= 1, offMs.join(" "));
  });
}
