import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { starterFolder, streamingCard } from "../../../test/fixtures/sherpa-models.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import { recognizerPlan } from "./recognizer-config.ts";
import {
  loadSherpaLibrary,
  type OnlineRecognizer,
  type OnlineStream,
  type SherpaLibrary,
} from "./sherpa-library.ts";
import { StreamBatch } from "./stream-batch.ts";

describe("StreamBatch", () => {
  const real = loadSherpaLibrary();
  /** The streams of each library call, by name, since assertions cannot distinguish streams. */
  const calls: string[][] = [];
  const names = new Map<OnlineStream, string>();
  const named = (streams: readonly OnlineStream[]) =>
    streams.map((stream) => names.get(stream) ?? "");
  const library: SherpaLibrary = {
    ...real,
    decodeMultipleOnlineStreams(recognizer, streams) {
      calls.push(named(streams));
      real.decodeMultipleOnlineStreams(recognizer, streams);
    },
  };
  let recognizer: OnlineRecognizer;
  before(() => {
    recognizer = real.createOnlineRecognizer(recognizerPlan(streamingCard, starterFolder).config);
  });

  function readyStream(): OnlineStream {
    const stream = real.createOnlineStream(recognizer);
    const samples = new Float32Array(8000);
    real.acceptWaveformOnline(stream, { samples, sampleRate: 16_000 });
    assert.ok(real.isOnlineStreamReady(recognizer, stream));
    names.set(stream, `stream ${names.size}`);
    return stream;
  }

  test("decodes the steps of one event loop turn in one call, each once", async () => {
    calls.length = 0;
    const batch = new StreamBatch(library, recognizer);
    const streams = [readyStream(), readyStream(), readyStream()];
    const decoded = streams.map((stream) => batch.decode(stream, "live"));
    assert.ok(batch.decode(streams[1] ?? readyStream(), "live") === decoded[1]);
    assert.deepEqual(calls, []);
    assert.ok(streams.every((stream) => batch.has(stream)));
    await Promise.all(decoded);
    assert.deepEqual(calls, [named(streams)]);
    assert.ok(!streams.some((stream) => batch.has(stream)));
  });

  test("decodes 16 streams at a time, live streams first", async () => {
    calls.length = 0;
    const batch = new StreamBatch(library, recognizer);
    const modes: RecognitionMode[] = ["job", "short", "live"];
    const byMode = modes.map((mode) => {
      const streams = Array.from({ length: 8 }, readyStream);
      return { streams, decoded: streams.map((stream) => batch.decode(stream, mode)) };
    });
    await Promise.all(byMode.flatMap(({ decoded }) => decoded));
    const [jobs = [], shorts = [], lives = []] = byMode.map(({ streams }) => named(streams));
    assert.deepEqual(calls, [[...lives, ...shorts], jobs]);
  });

  test("does not decode a removed stream, but resolves its promise", async () => {
    calls.length = 0;
    const batch = new StreamBatch(library, recognizer);
    const [over, other] = [readyStream(), readyStream()];
    const decoded = [batch.decode(over, "live"), batch.decode(other, "live")];
    batch.remove(over);
    await Promise.all(decoded);
    assert.deepEqual(calls, [named([other])]);
    batch.remove(over);
  });
});
