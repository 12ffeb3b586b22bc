import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../command.ts";
import { readExpiry, readScopes } from "./key-options.ts";

const now = Date.parse("2026-11-22T12:00:00Z");

test("readExpiry() accepts days and times with a time zone, and names any other value in its error", () => {
  const rows: [text: string, expected: string | RegExp][] = [
    ["2027-01-01", "2027-01-01T00:00:00.000Z"],
    ["2028-02-29", "2028-02-29T00:00:00.000Z"],
    ["2027-01-01T12:30:00Z", "2027-01-01T12:30:00.000Z"],
    ["2027-01-01T00:30:00+01:00", "2026-12-31T23:30:00.000Z"],
    ["2026-11-22T12:00:01Z", "2026-11-22T12:00:01.000Z"],
    ["2026-11-22T12:00:00Z", /must be in the future, not /],
    ["2026-11-22", /must be in the future, not /],
    ["2027-02-29", /must be a day .* or a time .*, not "2027-02-29"$/],
    ["2027-13-01", /must be a day/],
    ["2027-1-1", /must be a day/],
    ["2027-01-01T12:30:00", /must be a day/],
    ["2027-01-01T25:00:00Z", /must be a day/],
    ["01.01.2027", /must be a day/],
    ["tomorrow", /"tomorrow"/],
    ["", /must be a day/],
  ];
  for (const [text, expected] of rows) {
    if (typeof expected === "string") {
      assert.equal(readExpiry(text, now).toISOString(), expected, text);
    } else {
      assert.throws(() => readExpiry(text, now), refusal(expected), text);
    }
  }
});

test("readScopes() accepts scopes in any order, and names an unknown scope in its error", () => {
  assert.deepEqual(readScopes("speech, transcripts.read"), ["transcripts.read", "speech"]);
  assert.deepEqual(readScopes("account,account"), ["account"]);
  assert.throws(() => readScopes("speech,transcript.read"), refusal(/mean transcripts\.read/));
  assert.throws(() => readScopes("everything"), refusal(/"everything".*: use transcripts\.read, /));
  assert.throws(() => readScopes(""), refusal(/""/));
});

function refusal(message: RegExp) {
  return (error: unknown) => error instanceof UsageError && message.test(error.message);
}
