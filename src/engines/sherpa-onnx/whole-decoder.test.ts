import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { espeak, joined, silence } from "../../../test/fixtures/flite.ts";
import { drain, recognize, wholeCard, wholeFolder } from "../../../test/fixtures/sherpa-models.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import { OfflineRuns } from "./offline-runs.ts";
import { recognizerPlan } from "./recognizer-config.ts";
import {
  loadSherpaLibrary,
  type OfflineRecognizer,
  type SherpaConfig,
  type SherpaLibrary,
} from "./sherpa-library.ts";
import { WholeDecoder } from "./whole-decoder.ts";

describe("WholeDecoder", () => {
  const real = loadSherpaLibrary();
  /** The milliseconds of audio in each run, in the order in which the runs begin. */
  const givenMs: number[] = [];
  const configured: SherpaConfig[] = [];
  let [underWay, mostUnderWay] = [0, 0];
  const library: SherpaLibrary = {
    ...real,
    offlineRecognizerSetConfig(recognizer, config) {
      configured.push(config);
      real.offlineRecognizerSetConfig(recognizer, config);
    },
    acceptWaveformOffline(stream, waveform) {
      givenMs.push(waveform.samples.length / 16);
      real.acceptWaveformOffline(stream, waveform);
    },
    async decodeOfflineStreamAsync(recognizer, stream) {
      underWay += 1;
      mostUnderWay = Math.max(mostUnderWay, underWay);
      const json = await real.decodeOfflineStreamAsync(recognizer, stream);
      underWay -= 1;
      return json;
    },
  };
  let recognizer: OfflineRecognizer;
  let spoken: Int16Array;
  before(async () => {
    const { config } = recognizerPlan(wholeCard, wholeFolder);
    recognizer = await real.createOfflineRecognizerAsync(config);
    spoken = joined(silence(200), espeak("góðan daginn"), silence(200));
  });

  function newRuns(runsMax: number): OfflineRuns {
    givenMs.length = 0;
    mostUnderWay = 0;
    return new OfflineRuns(library, recognizer, runsMax);
  }

  const decoderOf = (runs: OfflineRuns, mode: RecognitionMode, secondsMax = 60) =>
    new WholeDecoder(runs, { mode, secondsMax });

  test("a recording is decoded once; live speech is decoded every half second and at its end", async () => {
    for (const mode of ["short", "job"] as const) {
      const decoder = decoderOf(newRuns(2), mode);
      assert.equal((await recognize(decoder, spoken))[0]?.text, "góðan daginn", mode);
      assert.equal(givenMs.length, 1, mode);
      assert.equal(decoder.partial(), undefined);
    }
    const live = decoderOf(newRuns(2), "live");
    const long = joined(spoken, spoken, spoken);
    await recognize(live, long);
    assert.equal(givenMs.length, Math.floor(long.length / 8000) + 1, String(givenMs));
  });

  test("live speech is not decoded again while other runs are waiting", async () => {
    const runs = newRuns(1);
    const decoder = decoderOf(runs, "live");
    decoder.begin();
    const other = runs.add(spoken, "job");
    decoder.accept(spoken);
    assert.equal(decoder.work(), false);
    await other.result;
    assert.ok(decoder.work() instanceof Promise);
    await decoder.work();
    assert.equal(decoder.partial()?.text, "góðan daginn");
    decoder.close();
    assert.equal(decoder.partial(), undefined);
  });

  test("an utterance that is too long for the model is decoded in parts", async () => {
    const long = joined(spoken, silence(400), spoken, silence(400), spoken);
    const decoder = decoderOf(newRuns(2), "job", 2);
    const [reading] = await recognize(decoder, long);
    assert.equal(reading?.text, "góðan daginn góðan daginn góðan daginn");
    assert.ok(givenMs.length >= 3 && givenMs.every((ms) => ms <= 2300), String(givenMs));
    const starts = reading.words.map(({ startMs }) => startMs);
    const apartMs = (spoken.length + 6400) / 16;
    for (const at of [0, 1, 2, 3]) {
      const ms = (starts[at + 2] ?? 0) - (starts[at] ?? 0);
      assert.ok(Math.abs(ms - apartMs) <= 120, `${ms} ms, not ${apartMs}`);
    }
  });

  test("at most runsMax utterances are decoded concurrently, in the order of arrival and mode", async () => {
    const runs = newRuns(2);
    const lengths = { job: 30_000, short: 40_000, live: 50_000 };
    const first = [
      runs.add(new Int16Array(20_000), "job"),
      runs.add(new Int16Array(21_000), "job"),
    ];
    const modes: RecognitionMode[] = ["job", "short", "live"];
    const added = modes.map((mode) => runs.add(new Int16Array(lengths[mode]), mode));
    const cancelled = runs.add(new Int16Array(60_000), "live");
    cancelled.cancel();
    await Promise.all([...first, ...added].map(({ result }) => result));
    assert.deepEqual(
      givenMs.map((ms) => (ms - 300) * 16),
      [20_000, 21_000, 50_000, 40_000, 30_000],
    );
    assert.equal(mostUnderWay, 2);
  });

  test("the partial reading of an utterance is dropped when the next one begins", async () => {
    const decoder = decoderOf(newRuns(2), "live");
    decoder.begin();
    decoder.accept(spoken);
    const work = decoder.work();
    decoder.begin();
    await work;
    assert.equal(decoder.partial(), undefined);
    assert.equal((await recognize(decoder, spoken))[0]?.text, "góðan daginn");
  });

  test("a waiting utterance is not decoded after its decoder is closed", async () => {
    const runs = newRuns(1);
    const first = runs.add(spoken, "job");
    const decoder = decoderOf(runs, "short");
    decoder.begin();
    decoder.accept(spoken);
    decoder.end().next();
    decoder.close();
    const last = runs.add(new Int16Array(32_000), "job");
    await Promise.all([first.result, last.result]);
    assert.deepEqual(givenMs, [spoken.length / 16 + 300, 2300]);
  });

  test("a run has the config of its decoder", async () => {
    const runs = newRuns(1);
    const { config } = recognizerPlan(wholeCard, wholeFolder);
    const [one, other] = [{ ...config }, { ...config, maxActivePaths: 8 }];
    const running = [one, other, one, undefined].map((each) =>
      recognize(new WholeDecoder(runs, { mode: "job", secondsMax: 60, config: each }), spoken),
    );
    for (const readings of await Promise.all(running)) {
      assert.equal(readings[0]?.text, "góðan daginn");
    }
    assert.deepEqual(configured, [one, other, one]);
  });

  test("silence is never decoded", async () => {
    for (const mode of ["live", "short"] as const) {
      const decoder = decoderOf(newRuns(2), mode);
      assert.deepEqual(await recognize(decoder, silence(3000)), []);
      assert.deepEqual(givenMs, []);
    }
  });

  test("an utterance that ends during a partial run waits for that run to end", async () => {
    const decoder = decoderOf(newRuns(2), "live");
    decoder.begin();
    decoder.accept(spoken);
    assert.ok(decoder.work() instanceof Promise);
    assert.equal((await drain(decoder))[0]?.text, "góðan daginn");
    assert.equal(mostUnderWay, 1);
    assert.equal(givenMs.length, 2);
  });
});
