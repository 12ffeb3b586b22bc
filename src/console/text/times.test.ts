// Tests times, durations, sizes and counts at their boundaries: the change to summer time, the end
// of a year, the last second of a minute, zero.
import assert from "node:assert/strict";
import { env } from "node:process";
import { test } from "node:test";
import { jobViolationText } from "./job-violations.ts";
import { newJobText } from "./jobs.ts";
import { counted } from "./counted.ts";
import { when } from "./dates.ts";
import {
  bytesText,
  clockTenths,
  clockText,
  clockThousandths,
  lengthText,
  numberText,
  spanText,
} from "./numbers.ts";
import { uploadText } from "./upload.ts";

// A time zone with summer time from March to October.
env["TZ"] = "Europe/Copenhagen";

const whens = [
  // The clocks of two machines may differ a little.
  ["2026-11-18T12:00:50", "2026-11-18T12:00:00", "rétt í þessu", "just now"],
  ["2026-11-18T11:57:00", "2026-11-18T12:00:59", "fyrir 3 mín.", "3 min ago"],
  ["2026-11-18T09:41:00", "2026-11-18T12:00:00", "í dag 09:41", "today 09:41"],
  ["2026-03-28T23:30:00", "2026-03-29T23:30:00", "í gær 23:30", "yesterday 23:30"],
  ["2026-10-25T00:30:00", "2026-10-26T00:10:00", "í gær 00:30", "yesterday 00:30"],
  ["2026-12-31T22:00:00", "2027-01-01T01:00:00", "í gær 22:00", "yesterday 22:00"],
  ["2026-12-30T22:00:00", "2027-01-01T01:00:00", "30. des. 2026 22:00", "30 Dec 2026 22:00"],
  ["2027-01-02T01:00:00", "2027-01-01T01:00:00", "2. jan. 01:00", "2 Jan 01:00"],
] as const;

for (const [date, now, is, en] of whens) {
  test(`when() shows ${date} at ${now} as "${en}"`, () => {
    assert.equal(when("is", new Date(date), new Date(now)), is);
    assert.equal(when("en", new Date(date), new Date(now)), en);
  });
}

test("durations, clock times, sizes and numbers are correct at their boundaries", () => {
  assert.deepEqual(
    [0, 0.4, 59.9996, 60, 3599.9, 3600, 148_320].map((seconds) => spanText("is", seconds)),
    ["0 sek.", "0 sek.", "59 sek.", "1 mín.", "59 mín.", "1,0 klst.", "41,2 klst."],
  );
  assert.deepEqual(
    [-1, 0, 0.3, 4.1, 59.96, 59.999, 60, 3599.95].map((seconds) => clockTenths("is", seconds)),
    ["0:00,0", "0:00,0", "0:00,3", "0:04,1", "0:59,9", "0:59,9", "1:00,0", "59:59,9"],
  );
  assert.equal(clockTenths("en", 3600.5), "1:00:00.5");
  assert.deepEqual(
    [-1, 0, 0.0005, 4.12, 59.9994, 59.9996].map((seconds) => clockThousandths("is", seconds)),
    ["0:00,000", "0:00,000", "0:00,001", "0:04,120", "0:59,999", "1:00,000"],
  );
  assert.equal(clockThousandths("en", 3600.58), "1:00:00.580");
  assert.deepEqual([-1, 0, 59.9996, 60, 3599.9996, 3600].map(clockText), [
    "0:00",
    "0:00",
    "0:59",
    "1:00",
    "59:59",
    "1:00:00",
  ]);
  assert.deepEqual(
    [0, 999, 1000, 99_440, 999_499, 999_500, 2e9].map((bytes) => bytesText("is", bytes)),
    ["0 B", "999 B", "1,0 kB", "99,4 kB", "999 kB", "1,0 MB", "2,0 GB"],
  );
  assert.deepEqual(
    [-0.001, -1234.5, 1_000_000].map((value) => numberText("is", value, 1)),
    ["0,0", "−1.234,5", "1.000.000,0"],
  );
});

test("lengths of recordings are read as lengths, not as times of day", () => {
  assert.deepEqual(
    [0, 8.9, 60, 649, 3600, 4324].map((seconds) => lengthText("en", seconds)),
    ["0 s", "8 s", "1 min", "10 min 49 s", "1 h", "1 h 12 min"],
  );
  assert.equal(lengthText("is", 649), "10 mín. 49 sek.");
  assert.equal(lengthText("is", 4324), "1 klst. 12 mín.");
});

test("Icelandic counts that end in 1, but not in 11, take the singular in every text", () => {
  const words = (count: number) => counted("is", count, "stafur", "stafir");
  assert.deepEqual([0, 1, 2, 11, 21, 111, 1001].map(words), [
    "0 stafir",
    "1 stafur",
    "2 stafir",
    "11 stafir",
    "21 stafur",
    "111 stafir",
    "1.001 stafur",
  ]);
  assert.equal(counted("en", 21, "letter", "letters"), "21 letters");
  assert.match(newJobText.tooLong.is(1001, 1000), /^1\.001 stafur; /);
  const description = "has 10001 characters: at most 10000";
  assert.match(jobViolationText({ field: "", description }).is, /^10\.001 stafur; /);
  assert.deepEqual([1, 2, 11, 21].map(uploadText.sending.is), [
    "Sendi skrá",
    "Sendi 2 skrár",
    "Sendi 11 skrár",
    "Sendi 21 skrá",
  ]);
});
