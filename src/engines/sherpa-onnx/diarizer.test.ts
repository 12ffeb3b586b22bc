import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { espeak, flite, joined, silence } from "../../../test/fixtures/flite.ts";
import { testModelsFolder } from "../../../test/fixtures/sherpa-models.ts";
import { type ModelCard, ModelCardError, parseModelCard } from "../../models/model-card.ts";
import { joinSpeakers, type RecordingTurn, type SpeakerWindow } from "../protocol/speakers.ts";
import { type Diarizer, openDiarizer } from "./diarizer.ts";

const folder = join(testModelsFolder, "diarization");
const card = parseModelCard(readFileSync(join(folder, "model.json"), "utf8"));

/** The words of two speakers, in turns. */
const talk = [
  "Good morning and welcome to the meeting of today",
  "Thank you it is good to be here again with all of you",
  "First we should talk about the budget of the coming year",
  "I have looked at the numbers and they do not look so good",
  "What do you think that we should do about it",
  "We could wait until the summer and see how it goes then",
];

interface Dialogue {
  readonly samples: Int16Array;
  readonly said: readonly RecordingTurn[];
}

function dialogue(): Dialogue {
  const parts: Int16Array[] = [];
  const said: RecordingTurn[] = [];
  let startMs = 0;
  for (const [at, text] of talk.entries()) {
    const isFirst = at % 2 === 0;
    const samples = isFirst ? flite(text, { voice: "rms" }) : espeak(text, { voice: "en+f3" });
    const endMs = startMs + samples.length / 16;
    said.push({ speaker: isFirst ? "1" : "2", startMs, endMs });
    parts.push(samples, silence(300));
    startMs = endMs + 300;
  }
  return { samples: joined(...parts), said };
}

/** Returns the share of the speech for which only the correct speaker is found. */
function shareRight(said: readonly RecordingTurn[], found: readonly RecordingTurn[]): number {
  let [right, all] = [0, 0];
  for (const { speaker, startMs, endMs } of said) {
    for (let ms = startMs; ms < endMs; ms += 10) {
      const active = found.filter((turn) => turn.startMs <= ms && ms < turn.endMs);
      all += 1;
      if (active.length === 1 && active[0]?.speaker === speaker) right += 1;
    }
  }
  return right / all;
}

/** Returns who speaks when, diarized in windows of this length. */
async function diarizeAll(
  diarizer: Diarizer,
  samples: Int16Array,
  windowMs = samples.length / 16,
): Promise<readonly RecordingTurn[]> {
  const windows: SpeakerWindow[] = [];
  for (let startMs = 0; startMs * 16 < samples.length; startMs += windowMs) {
    const window = samples.subarray(startMs * 16, (startMs + windowMs) * 16);
    windows.push({ startMs, ...(await diarizer.diarize(window)) });
  }
  return joinSpeakers(windows);
}

describe("openDiarizer()", () => {
  let diarizer: Diarizer;
  let spoken: Dialogue;
  before(async () => {
    diarizer = await openDiarizer(card, folder);
    spoken = dialogue();
  });

  test("it distinguishes two speakers", async () => {
    const found = await diarizeAll(diarizer, spoken.samples);
    assert.deepEqual([...new Set(found.map(({ speaker }) => speaker))], ["1", "2"]);
    const share = shareRight(spoken.said, found);
    assert.ok(share >= 0.8, `${share} of the time is right`);
  });

  test("it recognizes speakers across windows of a recording", async () => {
    const { samples, said } = spoken;
    const found = await diarizeAll(diarizer, samples, 7000);
    assert.deepEqual([...new Set(found.map(({ speaker }) => speaker))], ["1", "2"]);
    const share = shareRight(said, found);
    assert.ok(share >= 0.8, `${share} of the time is right`);
  });

  test("its turns are in order, lie within the window, and have speakers with an embedding", async () => {
    const { turns, speakers } = await diarizer.diarize(spoken.samples);
    assert.ok(turns.length >= 6);
    for (const [at, { speaker, startMs, endMs }] of turns.entries()) {
      assert.ok(startMs >= (turns[at - 1]?.startMs ?? 0) && endMs > startMs);
      assert.ok(endMs <= spoken.samples.length / 16);
      assert.ok(speakers.some((voice) => voice.speaker === speaker));
    }
    for (const { embedding, seconds } of speakers) {
      assert.equal(embedding.length, 24);
      assert.ok(seconds > 5 && seconds <= 30);
    }
  });

  test("it returns no turns if there is no speech", async () => {
    for (const samples of [
      silence(0),
      silence(5000),
      Int16Array.of(0, 1, 0),
      silence(9000).fill(1),
    ]) {
      assert.deepEqual(await diarizer.diarize(samples), { turns: [], speakers: [] });
    }
  });

  test("it diarizes one window at a time, in order", async () => {
    const short = spoken.samples.subarray(0, 100_000);
    const alone = await diarizer.diarize(short);
    const ended: string[] = [];
    const [, together] = await Promise.all([
      diarizer.diarize(spoken.samples).finally(() => ended.push("long")),
      diarizer.diarize(short).finally(() => ended.push("short")),
    ]);
    assert.deepEqual(together, alone);
    assert.deepEqual(ended, ["long", "short"]);
  });

  test("the error for an invalid card names the wrong fields", async () => {
    const rows: [Partial<ModelCard>, RegExp][] = [
      [{ kind: "whisper" }, /kind whisper is not a diarization model/],
      [{ files: { embedding: { path: "e.onnx" } } }, /files\.segmentation is required/],
      [
        { options: { clusteringThreshold: 3 } },
        /clusteringThreshold must be a number from 0 to 2, not 3/,
      ],
      [
        { options: { speakers: 3 } },
        /options\.speakers is unknown; the options are clusteringThreshold/,
      ],
      [{ sampleRateHertz: 8000 }, /sampleRateHertz must be 16000, not 8000/],
    ];
    for (const [different, problem] of rows) {
      await assert.rejects(
        openDiarizer({ ...card, ...different }, folder),
        (error) => error instanceof ModelCardError && problem.test(error.message),
      );
    }
  });

  test("the error for missing files names the files", async () => {
    await assert.rejects(
      openDiarizer(card, testModelsFolder),
      /^Error: diarization: sherpa-onnx cannot load segmentation\.onnx, embedding\.onnx/,
    );
  });
});
