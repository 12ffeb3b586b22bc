import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "../../std/log.ts";
import type { Frame, FrameKind } from "../protocol/engine-frames.ts";
import { EngineChild } from "./engine-child.ts";
import type { LinkEnd } from "./engine-link.ts";
import { LiveDemand } from "./live-demand.ts";
import { thisMachine } from "./machine.ts";

test("new sessions had better not go to a process that has done nothing for one for ten seconds", async () => {
  const ended = Promise.withResolvers<LinkEnd>();
  const link = {
    pid: 0,
    sink: { writable: true, write: (_bytes: Buffer, done: () => void) => done() },
    onFrames: (_frames: Iterable<Frame>) => {},
    ended: ended.promise,
    isGarbled: false,
    end() {},
    kill() {},
  };
  const engine = { name: "scripted", languageCodes: [], takesHints: false, alignsWords: false };
  const child = new EngineChild(
    link,
    { engine, cpuPerSpeech: 0.1 },
    {
      model: "scripted",
      stuckMsMax: 60_000,
      log: createLog("silent"),
      machine: thisMachine(() => []),
      onLoad() {},
      readSigns: () => undefined,
    },
  );
  const client = {
    mode: "short",
    sampleRateHertz: 16_000,
    demand: new LiveDemand(0),
    fullDemand: 0,
    uncommittedSeconds: 0,
    interim() {},
    committed() {},
    progress() {},
  } as const;
  const options = {
    languageCode: "is-IS",
    mode: "short",
    sampleRateHertz: 16_000,
    alternativesMax: 1,
    interim: false,
    silenceMsMin: 500,
    punctuation: true,
  } as const;
  const session = child.open(client, { options, isSuspect: false });
  session.endInput();
  const send = (kind: FrameKind, payload: unknown, number = 0) =>
    link.onFrames([{ kind, session: number, payload: Buffer.from(JSON.stringify(payload)) }]);
  const none = { cpuSeconds: 0, audioSeconds: 0 };
  const work = { live: none, short: none, job: none };
  const report = (seconds: number, busy: readonly number[] = []) =>
    send("load", { seconds, live: [], liveLateMs: 0, work, fullWork: none, busy });
  // A report of a process that was suspended for an hour counts as a second.
  for (let count = 0; count < 10; count += 1) report(3_600);
  assert.equal(child.isResponsive, true);
  report(1);
  assert.equal(child.isResponsive, false);
  report(1, [session.id]);
  assert.equal(child.isResponsive, true, "it works on the session");
  for (let count = 0; count < 11; count += 1) report(1);
  assert.equal(child.isResponsive, false);
  send("progress", 100, session.id);
  report(1);
  assert.equal(child.isResponsive, true, "it has sent something for the session");
  for (let count = 0; count < 11; count += 1) report(1);
  assert.equal(child.isResponsive, false);
  child.leave(session);
  assert.equal(child.isResponsive, true, "the session has ended");
  ended.resolve({ how: "closed", isOfProcess: false });
  await child.exited;
});
