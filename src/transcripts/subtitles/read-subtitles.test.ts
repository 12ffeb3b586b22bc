import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cueTime } from "./cue-time.ts";
import type { Cue } from "../../cues/cue.ts";
import { segmentsOfCues, type VoicedSegment } from "./cue-segments.ts";
import { UnreadableFile } from "./read-cue.ts";
import { readSubtitles, type SubtitleFormat } from "./read-subtitles.ts";
import { writeSrt } from "./write-srt.ts";
import { writeVtt } from "./write-vtt.ts";

function read(content: string, format?: SubtitleFormat): VoicedSegment[] {
  return segmentsOfCues(readSubtitles(content, format), 1000);
}

/** Returns "0-1500 Anna: Góðan dag" for each segment. */
function brief(segments: readonly VoicedSegment[]): string[] {
  return segments.map(({ startMs, endMs, voice, words }) => {
    const text = words.map((word) => word.text).join("");
    return `${startMs}-${endMs} ${voice === "" ? "" : `${voice}: `}${text}`;
  });
}

const time = "00:00:01,000 --> 00:00:02,000";

test("SRT is read as players read it", () => {
  const rows: [content: string, segments: string[]][] = [
    ["", []],
    ["\ufeff\r\n\r\n", []],
    [`1\n${time}\nGóðan dag`, ["1000-2000 Góðan dag"]],
    [`\ufeff1\r\n${time}\r\nGóðan\r\ndag\r\n\r\n`, ["1000-2000 Góðan dag"]],
    [`1\r${time}\rGóðan\rdag\r`, ["1000-2000 Góðan dag"]],
    // Missing numbers, wrong numbers, and no empty line before a number.
    [`${time}\nA\n\n00:00:03,000 --> 00:00:04,000\nB`, ["1000-2000 A ", "3000-4000 B"]],
    [`7\n${time}\nA\n3\n00:00:03,000 --> 00:00:04,000\nB\n\n9`, ["1000-2000 A ", "3000-4000 B"]],
    // Times without hours, with periods, without milliseconds, or with coordinates.
    ["01:02.500 --> 01:03.000\nA", ["62500-63000 A"]],
    ["0:0:1 --> 0:0:2 X1:40 X2:600\nA", ["1000-2000 A"]],
    ["  100:00:00,5   -->   100:00:01,000  \nA", ["360000005-360001000 A"]],
    // Markup is removed; text that resembles markup stays.
    [`1\n${time}\n{\\an8}<i>Hæ</i>, <font color="#fff">þú</font>{/b}`, ["1000-2000 Hæ, þú"]],
    [`1\n${time}\n3 < 5 && 7 > 5 --> {x} <3`, ["1000-2000 3 < 5 && 7 > 5 --> {x} <3"]],
    [
      `1\n${time}\n&lt;b&gt; &amp;amp; &#233; &#x1F600; &nope;`,
      ["1000-2000 <b> &amp; é 😀 &nope;"],
    ],
    // Empty lines and numbers within a text.
    [`1\n${time}\nA\n\n1984\n\nB`, ["1000-2000 A 1984 B"]],
    // Cues are sorted, overlapping cues stay, and cues without text have no segment.
    [
      `1\n00:00:05,000 --> 00:00:09,000\nB\n\n2\n00:00:01,000 --> 00:00:06,000\nA\n\n3\n${time}\n \n\n4\n${time}\n<i></i>`,
      ["1000-6000 A ", "5000-9000 B"],
    ],
    ["1\n00:00:01,000 --> 00:00:01,000\nA", ["1000-1000 A"]],
    [`1\n${time}\nA\u0007B\u0000C\tD`, ["1000-2000 ABC D"]],
    [`1\n${time}\n東京\nです`, ["1000-2000 東京です"]],
  ];
  for (const [content, segments] of rows) {
    assert.deepEqual(brief(read(content)), segments, JSON.stringify(content));
  }
});

test("WebVTT is read as browsers read it", () => {
  const one = "00:01.000 --> 00:02.000";
  const rows: [content: string, segments: string[]][] = [
    ["WEBVTT", []],
    ["\ufeffWEBVTT - title\r\nKind: captions\r\n\r\n", []],
    [`WEBVTT\n\n${one} line:0 align:start\nA\nB`, ["1000-2000 A B"]],
    [`WEBVTT\n${one}\nA`, ["1000-2000 A"]],
    [
      `WEBVTT\n\nSTYLE\n::cue { color: red }\n\nREGION\nid:x\n\nNOTE\nx\n\nNOTE y\n\nname\n${one}\nA`,
      ["1000-2000 A"],
    ],
    [`WEBVTT\n\n${one}\nA\n${one}\nB`, ["1000-2000 A ", "1000-2000 B"]],
    [`WEBVTT\n\n1:00:01,000 --> 1:00:02,000\nA`, ["3601000-3602000 A"]],
    [`WEBVTT\n\n${one}\n<v Anna>Hæ <b.x>þú</b></v>`, ["1000-2000 Anna: Hæ þú"]],
    [`WEBVTT\n\n${one}\n<v.loud Anna &amp; Co>Hæ`, ["1000-2000 Anna & Co: Hæ"]],
    [
      `WEBVTT\n\n${one}\n<v Anna>Hæja</v>\n<v Bo>Jæja</v>`,
      ["1000-1556 Anna: Hæja ", "1556-2000 Bo: Jæja"],
    ],
    [
      `WEBVTT\n\n${one}\n1 &lt; 2 &amp;&amp; <3 a<c>b</c> x < y`,
      ["1000-2000 1 < 2 && <3 ab x < y"],
    ],
  ];
  for (const [content, segments] of rows) {
    assert.deepEqual(brief(read(content)), segments, JSON.stringify(content));
  }
  const [karaoke] = read(
    "WEBVTT\n\n00:01.000 --> 00:04.000\nein <00:00:02.000>tvær <00:00:03.500>þrjár <00:00:01.000>fjórar",
  );
  assert.deepEqual(
    karaoke?.words.map(({ text, startMs, endMs }) => [text, startMs, endMs]),
    [
      ["ein ", 1000, 2000],
      ["tvær ", 2000, 3500],
      ["þrjár ", 3500, 3750],
      ["fjórar", 3750, 4000],
    ],
  );
});

test("an error states the line that cannot be read", () => {
  const rows: [content: string, format: SubtitleFormat | undefined, message: string][] = [
    [
      "hello",
      undefined,
      'line 1: times such as 00:00:01,000 --> 00:00:02,500 are expected, not "hello"',
    ],
    [
      "1\n2\n3",
      undefined,
      'line 1: times such as 00:00:01,000 --> 00:00:02,500 are expected, not "1"',
    ],
    ["1\n00:00:01,000 -> 00:00:02,000\nA", undefined, "line 2: times such as"],
    [`1\n${time}\nA\n\n2\n00:00:0x --> 00:00:02,000\nB`, undefined, "line 6: times such as"],
    [`1\n${time}\nA\n\n0:0 --> x\nB`, undefined, "line 5: times such as"],
    ["1\n00:00:02,000 --> 00:00:01,000\nA", undefined, "line 2: the cue ends before it begins"],
    [
      "1\n00:60:02,000 --> 01:00:03,000\nA",
      undefined,
      "line 2: minutes and seconds must be 0 to 59",
    ],
    [
      "1\n00:00:00,000 --> 1001:00:00,000\nA",
      undefined,
      "line 2: times must be at most 1000 hours",
    ],
    ["WEBVTTX", "VTT", 'line 1: WEBVTT is expected, not "WEBVTTX"'],
    [`1\n${time}\nA`, "VTT", 'line 1: WEBVTT is expected, not "1"'],
    ["WEBVTT\n\nname\nA", undefined, "line 4: times such as"],
    ["WEBVTT\n\nname", "SRT", "line 1: times such as"],
  ];
  for (const [content, format, message] of rows) {
    assert.throws(
      () => read(content, format),
      (error: unknown) => error instanceof UnreadableFile && error.message.startsWith(message),
      `${message} of ${JSON.stringify(content)}`,
    );
  }
});

const line = fc
  .array(
    fc.oneof(
      fc.stringMatching(/^[a-zþ]{1,8}[.,]?$/),
      fc.constantFrom(
        "-->",
        "<b>",
        "</i>",
        "<3",
        "&amp;",
        "&",
        "{\\an8}",
        "{",
        "1",
        "👩‍👧",
        "c\u00a0d",
      ),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((words) => words.join(" "));
/** The lines include text that looks like times. */
const lines = fc.array(fc.oneof({ weight: 9, arbitrary: line }, fc.constant(time)), {
  minLength: 1,
  maxLength: 2,
});
const cues = fc
  .array(
    fc.record({
      gapMs: fc.nat(5_000_000),
      ms: fc.integer({ min: 1, max: 7000 }),
      lines,
      speakerId: fc.constantFrom("", "Anna & <Co>", "b"),
    }),
    { maxLength: 8 },
  )
  .map((drafts) => {
    let ms = 0;
    return drafts.map(({ gapMs, ms: lengthMs, ...cue }): Cue => {
      const startMs = ms + gapMs;
      ms = startMs + lengthMs;
      return { ...cue, startMs, endMs: ms, chars: cue.lines.join(" ").length };
    });
  });

test("a written file is read back with its text and times, and in WebVTT with its speakers", () => {
  fc.assert(
    fc.property(cues, (cues) => {
      const last = cues.length - 1;
      const expected = (withVoice: boolean) =>
        cues.map(({ startMs, endMs, lines, speakerId }, index) => {
          const voice = withVoice && speakerId !== "" ? `${speakerId}: ` : "";
          return `${startMs}-${endMs} ${voice}${lines.join(" ")}${index < last ? " " : ""}`;
        });
      assert.deepEqual(brief(read(writeSrt(cues), "SRT")), expected(false));
      assert.deepEqual(brief(read(writeVtt(cues, (id) => id))), expected(true));
    }),
    { numRuns: 300 },
  );
});

test("any file is either read or refused with UnreadableFile", () => {
  const part = fc.constantFrom(
    ..."WEBVTT|\n|\n\n|\r\n|1|NOTE|<v A>|<|>|-->|x|&|&#0;|&#xd800;|{\\an8}|\0|\u2060|<00:00:01.500>|\ufeff|ab cd".split(
      "|",
    ),
    time,
    "00:01.000 --> 00:02.000",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      try {
        let previousMs = 0;
        for (const { startMs, endMs, words } of read(parts.join(""))) {
          assert.ok(startMs >= previousMs && endMs >= startMs && words.length > 0);
          previousMs = startMs;
          for (const [index, word] of words.entries()) {
            assert.ok(word.startMs >= (words[index - 1]?.endMs ?? startMs));
            assert.ok(word.endMs >= word.startMs && word.endMs <= endMs);
            assert.match(word.text, /^[^\p{Cc}\s]/u);
            assert.ok(word.text.isWellFormed());
          }
        }
      } catch (error) {
        assert.ok(error instanceof UnreadableFile, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test("cueTime() writes hours with at least two digits", () => {
  const rows: [ms: number, text: string][] = [
    [0, "00:00:00,000"],
    [62_003, "00:01:02,003"],
    [3_599_999, "00:59:59,999"],
    [36_000_000, "10:00:00,000"],
    [3_600_000_000, "1000:00:00,000"],
  ];
  for (const [ms, text] of rows) assert.equal(cueTime(ms, ","), text);
});
