import assert from "node:assert/strict";
import { test } from "node:test";
import { joined, silence } from "../../../test/fixtures/flite.ts";
import { speech } from "../../../test/fixtures/engine-pool-fixture.ts";
import type { Engine } from "../protocol/engine.ts";
import type { SessionOptions } from "../protocol/engine-frames.ts";
import { createScriptedEngine } from "../scripted/scripted-engine.ts";
import { EngineSession, type SessionOutput } from "./engine-session.ts";

const scripted = createScriptedEngine();

const options: SessionOptions = {
  languageCode: "is-IS",
  mode: "live",
  sampleRateHertz: 16_000,
  alternativesMax: 1,
  interim: false,
  silenceMsMin: 500,
  punctuation: true,
};

const unheard: SessionOutput = {
  interim() {},
  committed() {},
  progress() {},
  received() {},
  done() {},
};

test("a session counts processed and spoken seconds", () => {
  const session = new EngineSession(scripted, options, unheard);
  session.push(joined(silence(2000), speech(1000), silence(2000)));
  while (session.step() === true);
  assert.equal(session.processedSeconds, 5);
  // The speech, with 150 ms before and after it, in whole frames of 20 ms.
  assert.equal(session.spokenSeconds, 1.28);
  session.close();
});

test("progress in a recording follows the decoder's work, not the arrival of audio", () => {
  const reported: number[] = [];
  let reportedBefore = Infinity;
  const slow: Engine = {
    ...scripted,
    createDecoder(how) {
      const decoder = scripted.createDecoder(how);
      return Object.assign(decoder, {
        work: () => false,
        // One slice for each 100 ms of about three seconds.
        *end() {
          reportedBefore = reported.at(-1) ?? 0;
          for (let slice = 0; slice < 30; slice++) yield;
          return [];
        },
      });
    },
  };
  const session = new EngineSession(
    slow,
    { ...options, mode: "job" },
    { ...unheard, progress: (samples) => reported.push(samples / 16) },
  );
  session.push(joined(silence(1000), speech(3000), silence(2000)));
  const atOnce: number[] = [];
  for (let steps = 0; session.step() === true; steps++) {
    if (reported.at(-1) !== atOnce.at(-1)) atOnce.push(reported.at(-1) ?? 0);
    assert.ok((reported.at(-1) ?? 0) <= session.processedSeconds * 1000);
  }
  assert.deepEqual(atOnce, reported, "each report comes between two slices");
  assert.ok(reportedBefore <= 1000, `${reportedBefore} ms before any of it was decoded`);
  assert.ok(reported.length >= 9 && (reported.at(-1) ?? 0) > 5500, reported.join());
});

test("audio that has just arrived does not count as queued, but audio left over from earlier does", () => {
  const session = new EngineSession(scripted, options, unheard);
  const queued = () => session.takeLeastQueuedSeconds();
  session.push(speech(1000));
  assert.equal(queued(), 0);
  assert.equal(queued(), 1);
  assert.deepEqual([session.step(), session.step()], [true, true]);
  session.push(speech(2000));
  assert.equal(queued(), 0.8);
  assert.equal(queued(), 2.8);
  while (session.step() === true);
  session.push(speech(1000));
  assert.equal(queued(), 0);
  session.close();
});
