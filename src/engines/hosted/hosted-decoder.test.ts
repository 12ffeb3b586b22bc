import assert from "node:assert/strict";
import { test } from "node:test";
import { speech } from "../../../test/fixtures/engine-pool-fixture.ts";
import { until } from "../../../test/fixtures/until.ts";
import type { DecoderOptions, Hypothesis } from "../protocol/engine.ts";
import { AudioFailed } from "../protocol/audio-failed.ts";
import { EngineUnavailable } from "../protocol/engine-absence.ts";
import { CallLimit } from "./call-limit.ts";
import { HostedDecoder } from "./hosted-decoder.ts";
import type { HostedServer, ServerCall, ServerResult } from "./hosted-server.ts";
import { ServerFailure } from "./server-failure.ts";
import { ServerHealth } from "./server-health.ts";

const job: DecoderOptions = { mode: "job", alternativesMax: 1 };
const said = (text: string): readonly ServerResult[] => [[{ text, words: [] }]];

type Recognize = (
  samples: () => Promise<number>,
  call: ServerCall,
) => Promise<readonly ServerResult[]>;

/** A server that answers each call with the next of these functions, or with the last one. */
function openParts(...answers: readonly Recognize[]) {
  let calls = 0;
  let isStreamed = false;
  const server: HostedServer = {
    takesHints: false,
    isStreamed: () => isStreamed,
    async recognize(audio, call) {
      const answer = answers[Math.min(calls++, answers.length - 1)];
      assert.ok(answer);
      const samples = async () => {
        let count = 0;
        for await (const chunk of audio) count += chunk.length;
        return count;
      };
      return await answer(samples, call);
    },
    probe: () => Promise.resolve(),
    close() {},
  };
  const health = new ServerHealth({
    probe: () => server.probe(AbortSignal.abort()),
    later: () => () => {},
  });
  const answerMsMax = { live: 200, other: 200 };
  const languageCodes = ["is-IS"];
  const name = "whisper at http://a.example";
  const parts = { name, server, health, limit: new CallLimit(() => 1), languageCodes, answerMsMax };
  return { parts, health, calls: () => calls, stream: () => (isStreamed = true) };
}

const unreachable: Recognize = () => {
  return Promise.reject(new ServerFailure("unreachable", "connection refused"));
};
const length: Recognize = async (samples) => said(`${await samples()}`);

async function ended(decoder: HostedDecoder): Promise<readonly Hypothesis[]> {
  const ending = decoder.end();
  let slice = ending.next();
  for (; !slice.done; slice = ending.next()) await slice.value;
  return slice.value;
}

async function textOf(decoder: HostedDecoder, ...chunks: readonly Int16Array[]) {
  decoder.begin();
  for (const chunk of chunks) decoder.accept(chunk);
  return (await ended(decoder)).map(({ text }) => text);
}

test("an utterance is sent whole again after a failure, and only then is the server absent", async () => {
  const { parts, health, calls } = openParts(unreachable, unreachable, length);
  const decoder = new HostedDecoder(parts, job);
  assert.deepEqual(await textOf(decoder, speech(100), speech(200)), ["4800"]);
  assert.equal(calls(), 3);
  assert.equal(health.absence(), undefined);

  const failing = openParts(unreachable);
  await assert.rejects(
    textOf(new HostedDecoder(failing.parts, { ...job, mode: "live" }), speech(100)),
    (error) => error instanceof EngineUnavailable && error.absence.kind === "UNREACHABLE",
  );
  assert.equal(failing.calls(), 2);
  assert.equal(failing.health.absence()?.reason, "whisper at http://a.example: connection refused");
});

test("a server whose answers are wrong is absent after another attempt, so that streams and jobs leave it", async () => {
  const page: Recognize = () => Promise.reject(new ServerFailure("broken", "not JSON"));
  const { parts, health, calls } = openParts(page);
  await assert.rejects(
    textOf(new HostedDecoder(parts, { ...job, mode: "live" }), speech(100)),
    EngineUnavailable,
  );
  assert.equal(calls(), 2);
  assert.equal(health.absence()?.reason, "whisper at http://a.example: not JSON");

  const once = openParts(page, length);
  assert.deepEqual(await textOf(new HostedDecoder(once.parts, job), speech(100)), ["1600"]);
  assert.equal(once.health.absence(), undefined);
});

test("a server that is there, but answers a job with an error, is not absent", async () => {
  const failing: Recognize = () =>
    Promise.reject(new ServerFailure("error", "answered 500: CUDA error", { status: "500" }));
  const page: Recognize = () => Promise.reject(new ServerFailure("broken", "not JSON"));
  for (const [answer, words, shown] of [
    [failing, "whisper at http://a.example: answered 500: CUDA error", "500"],
    [page, "whisper at http://a.example: not JSON", "it cannot be read"],
  ] as const) {
    const { parts, health, calls } = openParts(answer);
    await assert.rejects(
      textOf(new HostedDecoder(parts, job), speech(100)),
      (error) => error instanceof AudioFailed && error.message === words && error.answer === shown,
    );
    assert.equal(calls(), 3);
    assert.equal(health.absence(), undefined);
    // If it is not there, the audio is not the cause.
    parts.server.probe = () => Promise.reject(new ServerFailure("unreachable", "refused"));
    await assert.rejects(
      textOf(new HostedDecoder(parts, job), speech(100)),
      (error) => error instanceof EngineUnavailable && error.absence.kind === "UNREACHABLE",
    );
    assert.equal(health.absence()?.reason, "refused");
  }
});

test("a server that ends the call of a stream before its audio ends has not recognized it", async () => {
  const early: Recognize = () => Promise.resolve(said("good"));
  const { parts, calls, stream } = openParts(early, length);
  stream();
  const decoder = new HostedDecoder(parts, { ...job, mode: "live" });
  decoder.begin();
  decoder.accept(speech(100));
  await until(() => Promise.resolve(calls() === 2));
  decoder.accept(speech(200));
  assert.deepEqual(
    (await ended(decoder)).map(({ text }) => text),
    ["4800"],
  );
});

test("audio that a server refuses, and a text that no utterance has, are errors of the utterance alone", async () => {
  const refusing: Recognize = () => Promise.reject(new ServerFailure("refused", "too short"));
  const wrong: Recognize = () => Promise.resolve(said("a".repeat(20_000)));
  for (const [answer, problem] of [
    [refusing, /^whisper at http:\/\/a\.example: too short$/],
    [wrong, /more than 10000 characters/],
  ] as const) {
    const { parts, health, calls } = openParts(answer, length);
    const decoder = new HostedDecoder(parts, job);
    await assert.rejects(
      textOf(decoder, speech(100)),
      (error) => error instanceof AudioFailed && problem.test(error.message),
    );
    assert.equal(calls(), 1);
    assert.equal(health.absence(), undefined);
    assert.deepEqual(await textOf(decoder, speech(100)), ["1600"], "the next utterance");
  }
});

test("a refused key is not tried again", async () => {
  const denied: Recognize = () => Promise.reject(new ServerFailure("denied", "401"));
  const { parts, health, calls } = openParts(denied);
  await assert.rejects(textOf(new HostedDecoder(parts, job), speech(100)), EngineUnavailable);
  assert.equal(calls(), 1);
  assert.equal(health.absence()?.kind, "DENIED");
});

test("a server that never answers is absent after the deadline", async () => {
  const silent: Recognize = () => Promise.withResolvers<never>().promise;
  const { parts, health } = openParts(silent);
  await assert.rejects(
    textOf(new HostedDecoder(parts, { ...job, mode: "live" }), speech(100)),
    EngineUnavailable,
  );
  assert.match(health.absence()?.reason ?? "", /did not answer within 0\.2 s/);
});

test("silence is not sent", async () => {
  const { parts, calls } = openParts(length);
  assert.deepEqual(await textOf(new HostedDecoder(parts, job), new Int16Array(1600)), []);
  assert.deepEqual(await textOf(new HostedDecoder(parts, job)), []);
  assert.equal(calls(), 0);
});

test("a streamed server gets the audio while it is spoken, and its text so far is shown", async () => {
  let hasBegun = false;
  const { parts, stream } = openParts(async (samples, { onPartial }) => {
    onPartial({ text: "so far", words: [] });
    hasBegun = true;
    await samples();
    return said("so far and on");
  });
  stream();
  const decoder = new HostedDecoder(parts, { ...job, mode: "live" });
  decoder.begin();
  assert.equal(decoder.partial(), undefined);
  decoder.accept(speech(100));
  await until(() => Promise.resolve(hasBegun));
  assert.deepEqual(decoder.partial(), { text: "so far", words: [] });
  assert.deepEqual(
    (await ended(decoder)).map(({ text }) => text),
    ["so far and on"],
  );
  decoder.begin();
  assert.equal(decoder.partial(), undefined);
  decoder.close();
});

test("the failure of a streamed server is reported while the utterance is still spoken", async () => {
  const { parts, health, stream } = openParts(unreachable);
  stream();
  const decoder = new HostedDecoder(parts, { ...job, mode: "live" });
  decoder.begin();
  decoder.accept(speech(100));
  await until(() => Promise.resolve(health.absence() !== undefined));
  assert.throws(() => decoder.work(), EngineUnavailable);
  decoder.close();
});

test("an utterance that is left ends its call and its place", async () => {
  const called = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const opened = openParts((_samples, { signal }) => {
    called.resolve();
    signal.addEventListener("abort", () => aborted.resolve());
    return Promise.withResolvers<never>().promise;
  }, length);
  const answerMsMax = { live: 600_000, other: 600_000 };
  const parts = { ...opened.parts, answerMsMax };
  opened.stream();
  const decoder = new HostedDecoder(parts, job);
  decoder.begin();
  decoder.accept(speech(100));
  await called.promise;
  decoder.close();
  await aborted.promise;
  assert.deepEqual(await textOf(new HostedDecoder(parts, job), speech(100)), ["1600"]);
});
