import assert from "node:assert/strict";
import { test } from "node:test";
import type { PullProgress } from "../../models/pull-model.ts";
import { nearestNames } from "../nearest-names.ts";
import { PullDisplay } from "./pull-display.ts";

/**
 * Returns the output for a download of 100 MB in steps of 1 MB and 100 ms, and for the phases after
 * it.
 */
function shown(isTTY: boolean, columns?: number): string[] {
  const written: string[] = [];
  let now = 0;
  const output = {
    isTTY,
    ...(columns !== undefined && { columns }),
    write: (text: string) => written.push(text),
  };
  const display = new PullDisplay(output, () => now);
  const at = (megabytes: number): PullProgress => ({
    name: "it",
    phase: "download",
    receivedBytes: megabytes * 1e6,
    totalBytes: 1e8,
  });
  for (let step = 0; step <= 100; step++) {
    display.show(at(step));
    now += 50;
    display.show(at(step));
    now += 50;
  }
  display.show({ ...at(100), phase: "unpack" });
  display.end();
  return written;
}

test("a terminal gets a line that is redrawn, with the rate and the remaining time", () => {
  const written = shown(true);
  assert.ok(written.length > 50 && written.length < 120, `${written.length}`);
  assert.equal(
    written[60],
    "\r\u001B[K[=========       ]  60 %  60.0 MB of 100.0 MB, 10.0 MB/s, 0:04 left",
  );
  assert.deepEqual(written.slice(-2), [
    "\r\u001B[Kunpacking [================] 100 %  100.0 MB of 100.0 MB",
    "\n",
  ]);
});

test("a line is never longer than its terminal", () => {
  const lengths = (columns: number) =>
    shown(true, columns).map((each) => each.replace("\r\u001B[K", "").length);
  assert.equal(Math.max(...lengths(40)), 39);
  assert.deepEqual(lengths(0), lengths(80));
});

test("a file gets a line for each tenth of the download", () => {
  const written = shown(false);
  assert.equal(written.length, 12);
  assert.equal(written[0], "[                ]   0 %  0.0 MB of 100.0 MB\n");
  assert.match(written[5] ?? "", /^\[={8} {8}\] {2}50 % {2}50\.0 MB of 100\.0 MB, 10\.\d MB\/s/);
  assert.equal(written[11], "unpacking [================] 100 %  100.0 MB of 100.0 MB\n");
});

test("nearestNames() suggests similar names", () => {
  const known = ["whisper-tiny-en", "whisper-large-v3", "omnilingual-300m"];
  const rows: [name: string, hint: string][] = [
    ["whisper-tiny.en", ": did you mean whisper-tiny-en?"],
    ["whisper", ": did you mean whisper-tiny-en, whisper-large-v3?"],
    ["OMNILINGUAL-300", ": did you mean omnilingual-300m?"],
    ["parakeet", ""],
    ["", ""],
  ];
  for (const [name, hint] of rows) assert.equal(nearestNames(name, known), hint, name);
});
