import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { speech } from "../../../test/fixtures/engine-pool-fixture.ts";
import { silence } from "../../../test/fixtures/flite.ts";
import { until } from "../../../test/fixtures/until.ts";
import type { Engine, RecognitionMode } from "../protocol/engine.ts";
import {
  bytesOfSamples,
  type Frame,
  FrameWriter,
  jsonPayload,
  type OpenSession,
} from "../protocol/engine-frames.ts";
import { FrameReader } from "../protocol/frame-reader.ts";
import { createScriptedEngine } from "../scripted/scripted-engine.ts";
import { EngineHost } from "./engine-host.ts";

const none = Buffer.alloc(0);
const scripted = createScriptedEngine();

/** Opens a host in this process, and collects the frames that it writes. */
function openHost(engine: Engine = scripted) {
  const pipe = new PassThrough();
  const reader = new FrameReader();
  const written: Frame[] = [];
  pipe.on("data", (chunk: Buffer) => {
    // The chunk is copied, since the writer reuses its memory.
    for (const frame of reader.push(Buffer.from(chunk))) written.push(frame);
  });
  const host = new EngineHost(engine, { cpuPerSpeech: 0.1, writer: new FrameWriter(pipe) });
  const kindsOf = (session: number) =>
    written.filter((frame) => frame.session === session).map(({ kind }) => kind);
  return {
    host,
    written,
    kindsOf,
    open(
      session: number,
      changes: Partial<OpenSession & { readonly mode: RecognitionMode }> = {},
      writer?: FrameWriter,
    ) {
      const { mode = "live", isSuspect = false } = changes;
      const payload: OpenSession = {
        isSuspect,
        options: {
          languageCode: "is-IS",
          mode,
          sampleRateHertz: 16_000,
          alternativesMax: 1,
          interim: false,
          silenceMsMin: 500,
          punctuation: true,
        },
      };
      const bytes = Buffer.from(JSON.stringify(payload));
      host.receive({ kind: "open", session, payload: bytes }, writer);
    },
    send(session: number, samples: Int16Array) {
      host.receive({ kind: "audio", session, payload: Buffer.from(bytesOfSamples(samples)) });
    },
    end: (session: number) => host.receive({ kind: "endInput", session, payload: none }),
    isDone: (session: number) => until(async () => kindsOf(session).includes("done")),
  };
}

test("EngineHost describes its engine, and reports the work of its sessions", async () => {
  const { host, open, send, isDone, end } = openHost();
  assert.deepEqual(host.ready, {
    engine: {
      name: "scripted",
      languageCodes: ["en-US", "is-IS"],
      takesHints: false,
      alignsWords: true,
    },
    cpuPerSpeech: 0.1,
  });
  open(1, { mode: "job" });
  send(1, speech(5000));
  end(1);
  await isDone(1);
  const { job } = host.report()?.work ?? assert.fail("there is no report");
  assert.equal(job.audioSeconds, 5);
  assert.ok(job.cpuSeconds >= 0);
});

test("EngineHost writes the results of each session under its number", async () => {
  const { written, kindsOf, open, send, end, isDone } = openHost();
  for (const session of [1, 2]) open(session);
  send(1, speech(1000));
  send(2, speech(400));
  for (const session of [1, 2]) end(session);
  await Promise.all([isDone(1), isDone(2)]);
  const texts = written
    .filter(({ kind }) => kind === "committed")
    .map((frame) => [frame.session, jsonPayload("committed", frame).final] as const);
  const textOf = (session: number) =>
    texts.find(([id]) => id === session)?.[1]?.alternatives[0]?.text;
  assert.deepEqual([textOf(1), textOf(2)], ["word1 word2", "word1"]);
  assert.equal(texts.length, 2);
  assert.deepEqual(kindsOf(1), ["received", "received", "committed", "done"]);
});

test("EngineHost ends a session that fails, and no other session", async () => {
  let isBroken = true;
  const { kindsOf, open, send, end, isDone } = openHost({
    ...scripted,
    createDecoder(options) {
      const decoder = scripted.createDecoder(options);
      if (!isBroken) return decoder;
      isBroken = false;
      return Object.assign(decoder, {
        accept: () => {
          throw new Error("broken");
        },
      });
    },
  });
  for (const session of [1, 2]) {
    open(session);
    send(session, speech(300));
    end(session);
  }
  await isDone(2);
  assert.deepEqual(kindsOf(1), ["error"]);
  assert.deepEqual(kindsOf(2), ["committed", "done"]);
});

test("EngineHost ignores frames of a session that was closed", async () => {
  const { host, kindsOf, open, send, end, isDone } = openHost();
  for (const session of [1, 2]) open(session);
  send(1, speech(300));
  host.receive({ kind: "close", session: 1, payload: none });
  send(1, speech(300));
  end(1);
  end(2);
  await isDone(2);
  assert.deepEqual(kindsOf(1), []);
});

test("a session whose number is used again ends, with its connection or before, and the new one goes on", async () => {
  const { host, written, kindsOf, open, send, end, isDone } = openHost();
  const left = new PassThrough();
  const ofLeft: Frame[] = [];
  const reader = new FrameReader();
  left.on("data", (chunk: Buffer) => ofLeft.push(...reader.push(Buffer.from(chunk))));
  const ofOther = new FrameWriter(left);
  open(1, {}, ofOther);
  host.receive({ kind: "audio", session: 1, payload: Buffer.from(speech(300).buffer) }, ofOther);
  open(1);
  await until(async () => ofLeft.length > 0);
  assert.deepEqual(
    ofLeft.map(({ kind }) => kind),
    ["error"],
  );
  // What the other connection still sends, and its end, concern the first session.
  host.receive({ kind: "audio", session: 1, payload: Buffer.from(speech(900).buffer) }, ofOther);
  host.receive({ kind: "close", session: 1, payload: none }, ofOther);
  host.leave(ofOther);
  send(1, speech(400));
  end(1);
  await isDone(1);
  assert.deepEqual(kindsOf(1), ["committed", "done"]);
  const commit = written.find(({ kind }) => kind === "committed") ?? assert.fail();
  assert.equal(jsonPayload("committed", commit).final?.alternatives[0]?.text, "word1");
  assert.deepEqual(host.report()?.live, []);
});

test("EngineHost works on one suspect at a time until the suspect commits, and reports which one", async () => {
  const released: (() => void)[] = [];
  const { host, written, kindsOf, open, send, end, isDone } = openHost({
    ...scripted,
    createDecoder(options) {
      const decoder = scripted.createDecoder(options);
      let isHeld = true;
      return Object.assign(decoder, {
        work(): false | Promise<void> {
          if (!isHeld) return false;
          isHeld = false;
          return new Promise((resolve) => released.push(resolve));
        },
      });
    },
  });
  for (const session of [1, 2]) {
    open(session, { isSuspect: true });
    send(session, speech(300));
    end(session);
  }
  const active = () =>
    written.filter(({ kind }) => kind === "working").map(({ session }) => session);
  await until(async () => released.length === 1);
  assert.deepEqual(active(), [1]);
  assert.deepEqual(host.report()?.busy, [1, 2]);
  released[0]?.();
  await until(async () => released.length === 2);
  assert.deepEqual(new Set(active()), new Set([1, 0, 2]));
  released[1]?.();
  await Promise.all([isDone(1), isDone(2)]);
  assert.equal(active().at(-1), 0);
  // After a commit a session is no longer a suspect.
  open(3, { isSuspect: true });
  send(3, speech(300));
  send(3, silence(1000));
  await until(async () => released.length === 3);
  released[2]?.();
  await until(async () => kindsOf(3).includes("committed"));
  // It has had the results of its input, although the input has not ended.
  await until(async () => host.report()?.busy?.length === 0);
  const before = active().length;
  send(3, silence(1000));
  end(3);
  await isDone(3);
  assert.deepEqual(active().slice(before), []);
  assert.ok(host.report());
});
