import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Playback } from "../../playback.ts";
import { defaultSettings } from "../keys/settings.ts";
import { EditPlayback } from "./edit-playback.ts";
import { readTime, sentenceStart } from "./sentence.ts";

test("sentenceStart() finds the sentence around an offset", () => {
  const text = "Fyrsta setning. „Önnur?“ Þriðja er 3,5 km löng… Fjórða";
  const starts = Array.from(text, (_, at) => sentenceStart(text, at));
  assert.deepEqual([...new Set(starts)], [0, 16, 25, 48]);
  assert.equal(sentenceStart(text, text.length), 48);
  assert.equal(sentenceStart("", 0), 0);
});

test("readTime() reads seconds, minutes and hours, and refuses the rest", () => {
  const rows: [typed: string, seconds: number | undefined][] = [
    ["75", 75],
    ["1:15", 75],
    [" 1:02:03 ", 3723],
    ["1:15,5", 75.5],
    ["0:00", 0],
    ["", undefined],
    ["1:", undefined],
    ["1:60", undefined],
    ["-1", undefined],
    ["1:2:3:4", undefined],
    ["1.5:10", undefined],
    ["x", undefined],
  ];
  for (const [typed, seconds] of rows) assert.equal(readTime(typed), seconds, typed);
});

/** A playback that has no media element yet, so that no event of one changes its state. */
function playing(settings: Partial<typeof defaultSettings>) {
  const calls: string[] = [];
  class Recorded extends Playback {
    override play(): void {
      calls.push("play");
      super.play();
    }
    override pause(): void {
      calls.push("pause");
      super.pause();
    }
    override seek(seconds: number): void {
      calls.push(`seek ${seconds}`);
    }
    override setRate(rate: number): void {
      calls.push(`rate ${rate}`);
    }
  }
  const playback = new Recorded({ duration: 100, start: 10 });
  return { calls, edit: new EditPlayback(playback, { ...defaultSettings, ...settings }) };
}

test("a pause jumps back as far as chosen, and two presses before any event count as two", () => {
  const { calls, edit } = playing({ jumpBackSeconds: 2 });
  edit.toggle();
  edit.toggle();
  assert.deepEqual(calls, ["play", "pause", "seek 8"]);
});

test("typing pauses or slows down until a second after the last character", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const rows = [
      { whileTyping: "pause", expected: ["play", "pause", "play"] },
      { whileTyping: "slow", expected: ["play", "rate 0.6", "rate 1"] },
      { whileTyping: "play", expected: ["play"] },
    ] as const;
    for (const { whileTyping, expected } of rows) {
      const { calls, edit } = playing({ whileTyping });
      edit.typed();
      edit.toggle();
      edit.typed();
      mock.timers.tick(900);
      edit.typed();
      mock.timers.tick(900);
      assert.deepEqual(calls, expected.slice(0, 2), whileTyping);
      mock.timers.tick(100);
      assert.deepEqual(calls, expected, whileTyping);
    }
  } finally {
    mock.timers.reset();
  }
});

test("a user who pauses while typing has paused, and it does not go on by itself", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { calls, edit } = playing({ whileTyping: "pause", jumpBackSeconds: 0 });
    edit.toggle();
    edit.typed();
    edit.toggle();
    mock.timers.tick(5_000);
    assert.deepEqual(calls, ["play", "pause", "pause"]);
  } finally {
    mock.timers.reset();
  }
});
