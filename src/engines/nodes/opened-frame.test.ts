import assert from "node:assert/strict";
import { test } from "node:test";
import { openedFrame } from "./opened-frame.ts";

const options = { mode: "live", sampleRateHertz: 16_000 };
const read = (text: string) => openedFrame(Buffer.from(text));

test("the mode and the trace of an open frame are read", () => {
  const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
  const sent = { options, isSuspect: false, traceparent };
  assert.deepEqual(read(JSON.stringify(sent)), { mode: "live", traceparent });
  const other = { ...sent, traceparent: "none" };
  assert.deepEqual(read(JSON.stringify(other)), { mode: "live", traceparent: undefined });
});

test("an open frame that is none is refused, without a word of it", () => {
  const isSuspect = false;
  const rows: readonly [text: string, problem: string][] = [
    ['{"hints": aaaa', "the payload is not JSON"],
    ['"aaaa"', "an open frame must have options"],
    [JSON.stringify({ options }), "an open frame must have options"],
    [
      JSON.stringify({ options: { ...options, mode: "aaaa" }, isSuspect }),
      "an open frame must have a mode",
    ],
    [
      JSON.stringify({ options: { ...options, sampleRateHertz: 7_999 }, isSuspect }),
      "an open frame must have a sample rate from 8000 to 48000",
    ],
  ];
  for (const [text, message] of rows) assert.throws(() => read(text), { message }, text);
});
