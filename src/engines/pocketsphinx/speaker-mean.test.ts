import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Cepstra, cepstrumLength } from "./cepstra.ts";
import { meanDistance, utteranceMean } from "./cepstral-mean.ts";
import { SpeakerMean } from "./speaker-mean.ts";

/** Generates a voice: frames around its own mean, which are always the same. */
function voice(count: number, center: number, seed = 1): Float32Array[] {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32 - 0.5;
  return Array.from({ length: count }, () => {
    return Float32Array.from({ length: cepstrumLength }, (_, index) => {
      return index === 0 ? 60 + 60 * random() : center + 20 * random();
    });
  });
}

const quiet = (count: number) =>
  voice(count, 0).map((frame) => frame.map((value, index) => (index === 0 ? value / 10 : value)));

function cepstraOf(frames: readonly Float32Array[]): Cepstra {
  const cepstra = new Cepstra();
  for (const frame of frames) cepstra.append(frame);
  return cepstra;
}

/**
 * Processes one utterance in chunks. Returns its means in order, each with the number of frames at
 * that time.
 */
function follow(
  speaker: SpeakerMean,
  frames: readonly Float32Array[],
  chunks: readonly number[] = frames.map(() => 1),
): [frames: number, mean: Float64Array][] {
  const cepstra = new Cepstra();
  const found: [number, Float64Array][] = [];
  const note = () => {
    const { value } = speaker;
    if (value && value !== found.at(-1)?.[1]) found.push([cepstra.count, value]);
  };
  speaker.begin();
  note();
  let at = 0;
  for (const length of chunks) {
    for (const frame of frames.slice(at, at + length)) cepstra.append(frame);
    at += length;
    speaker.update(cepstra);
    note();
  }
  speaker.finish(cepstra);
  note();
  speaker.end(cepstra);
  return found;
}

test("SpeakerMean has the mean of a new speaker after the first speech, and that of a known speaker immediately", () => {
  const speaker = new SpeakerMean();
  const [first, ...more] = follow(speaker, voice(300, 5));
  assert.equal(first?.[0], 100);
  assert.deepEqual(more, []);
  const [next, ...others] = follow(speaker, voice(300, 5, 2));
  assert.equal(next?.[0], 0);
  assert.deepEqual(others, []);
  const own = utteranceMean(cepstraOf(voice(300, 5)));
  assert.ok(meanDistance(next?.[1] ?? own.fill(0), own) < 0.2);
});

test("SpeakerMean waits for speech and ignores silence", () => {
  const [first] = follow(new SpeakerMean(), [...quiet(90), ...voice(200, 5)]);
  assert.ok(first && first[0] >= 130 && first[0] <= 150, `after ${first?.[0]} frames`);
});

test("SpeakerMean has the mean of a very short utterance when the utterance ends", () => {
  const found = follow(new SpeakerMean(), voice(30, 5));
  assert.deepEqual(
    found.map(([frames]) => frames),
    [30],
  );
  assert.deepEqual(follow(new SpeakerMean(), []), []);
});

test("SpeakerMean changes when it has become wrong, and finishes near the utterance's own mean", () => {
  for (const [before, after] of [
    [5, 30],
    [30, -20],
    [-20, 5],
  ] as const) {
    // The voice changes, as if another microphone were used.
    const frames = [...voice(100, before), ...voice(500, after)];
    const found = follow(new SpeakerMean(), frames);
    assert.ok(found.length >= 2 && found.length <= 5, `${found.length} means`);
    const own = utteranceMean(cepstraOf(frames));
    const last = found.at(-1)?.[1];
    assert.ok(last && meanDistance(last, own) < 0.5);
    assert.ok(meanDistance(found[0]?.[1] ?? own, own) > 0.5, "the first mean was wrong");
  }
});

test("SpeakerMean distinguishes a new speaker from the previous one", () => {
  const speaker = new SpeakerMean();
  for (let seed = 1; seed < 5; seed++) follow(speaker, voice(300, 5, seed));
  const stranger = voice(400, 30);
  const own = utteranceMean(cepstraOf(stranger));
  const during = follow(speaker, stranger);
  assert.ok(during.length >= 2, "it was wrong at first");
  assert.ok(meanDistance(during.at(-1)?.[1] ?? own, own) < 0.5);
  // After a change of speakers, SpeakerMean is unsure.
  const [next] = follow(speaker, stranger);
  assert.equal(next?.[0], 100);
  // A single word does not make SpeakerMean forget a speaker of two utterances.
  follow(speaker, voice(40, -20));
  const [again] = follow(speaker, stranger);
  assert.ok(again && again[0] === 0 && meanDistance(again[1], own) < 0.3);
});

test("SpeakerMean finds one mean per utterance when speakers alternate", () => {
  const speaker = new SpeakerMean();
  const means = [5, 30, -20, 5, 30, -20].map((center, index) => {
    return follow(speaker, voice(300, center, index + 1)).length;
  });
  assert.deepEqual(means.slice(2), [1, 1, 1, 1]);
});

test("SpeakerMean returns the same means for any split into chunks, and after save() and restore()", () => {
  const first = [...quiet(20), ...voice(90, 10), ...voice(300, 28)];
  const second = [...voice(50, -10), ...voice(200, 12), ...quiet(40)];
  const plain = new SpeakerMean();
  const expected = [follow(plain, first).at(-1)?.[1], follow(plain, second).at(-1)?.[1]];
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 20 }), (lengths) => {
      const chunks = [...lengths, first.length];
      const speaker = new SpeakerMean();
      assert.deepEqual(follow(speaker, first, chunks).at(-1)?.[1], expected[0]);
      const other = new SpeakerMean();
      other.restore(JSON.parse(JSON.stringify(speaker.save())));
      assert.deepEqual(follow(other, second, chunks).at(-1)?.[1], expected[1]);
      assert.deepEqual(other.save(), plain.save());
    }),
    { numRuns: 30 },
  );
});
