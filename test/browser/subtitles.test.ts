// The service's subtitles as read by independent implementations: ffmpeg, and the <track> element
// of a real browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { cuesOfTrack } from "../fixtures/cues-of-track.ts";
import { openBrowser } from "../fixtures/open-browser.ts";
import type { SpokenSegment } from "../../src/transcripts/spoken.ts";
import { cueTime } from "../../src/transcripts/subtitles/cue-time.ts";
import { paintOn } from "../../src/transcripts/subtitles/paint-on.ts";
import { readSubtitles } from "../../src/transcripts/subtitles/read-subtitles.ts";
import { subtitlesOf } from "../../src/cues/subtitles.ts";
import { writeSrt } from "../../src/transcripts/subtitles/write-srt.ts";
import { writePaintOn, writeVtt } from "../../src/transcripts/subtitles/write-vtt.ts";

/**
 * Difficult texts: arrows, tags, entities, lines that contain only a number, other scripts, a long
 * word.
 */
const talk = [
  "Góðan dag og velkomin á fundinn, sem er sá fyrsti í vetur. Nú byrjum við.",
  "1984",
  "Frá a --> b",
  "if a < b && c > d",
  "<b>ekki feitt</b>",
  "&amp; er og",
  "{\\an8}efst",
  "مرحبا بكم في هذا الاجتماع",
  "私は昨日友達と一緒に東京へ行きました。",
  "👩‍👩‍👧 fjölskylda",
  "x".repeat(60),
].map((text, at): SpokenSegment => {
  const startMs = at * 8000 + 123;
  const words = text.split(/(?<=\s)/).map((word, index) => ({
    text: word,
    startMs: startMs + index * 300,
    endMs: startMs + index * 300 + 290,
  }));
  const endMs = words.at(-1)?.endMs ?? startMs;
  return { startMs, endMs, speakerId: at % 2 === 0 ? "a" : "", words };
});
const cues = subtitlesOf(talk);
const name = "Anna & <Co>";
const vtt = writeVtt(cues, (id) => (id === "a" ? name : ""));
const srt = writeSrt(cues);
const frames = [...paintOn(talk)];
const painted = writePaintOn(frames, (id) => (id === "a" ? name : ""), 1e6) ?? "";

/** Converts a file to another format with ffmpeg. */
function ffmpeg(from: string, input: string, to: string): string {
  const args = ["-v", "error", "-f", from, "-i", "pipe:0", "-f", to, "pipe:1"];
  const { stdout, stderr, status } = spawnSync("ffmpeg", args, { input, encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
  return stdout;
}

interface Shown {
  readonly startMs: number;
  readonly endMs: number;
  readonly lines: readonly string[];
}

/** Returns the blocks of an SRT file without their numbers. */
function blocksOf(shown: readonly Shown[]): string[] {
  return shown.map(({ startMs, endMs, lines }) => {
    const time = `${cueTime(startMs, ",")} --> ${cueTime(endMs, ",")}`;
    return `${time}\n${lines.join("\n")}`;
  });
}

const plainFrames = frames.map(({ lines, ...times }) => ({
  ...times,
  lines: lines.map(({ text }) => text),
}));

test("ffmpeg reads every cue of every format with its times and text", () => {
  // ffmpeg would show entities in a voice's name as text.
  const plainVoices = writeVtt(cues, (id) => id);
  const plainPainted = writePaintOn(frames, (id) => id, 1e6) ?? "";
  const rows: [written: string, expected: readonly Shown[]][] = [
    [ffmpeg("srt", srt, "srt"), cues],
    [ffmpeg("webvtt", plainVoices, "srt"), cues],
    [ffmpeg("webvtt", plainPainted, "srt"), plainFrames],
  ];
  for (const [written, expected] of rows) {
    // When ffmpeg converts WebVTT, it escapes braces in its own way.
    const bare = written.replaceAll(/\u2060|\r|\\(?=\{)/g, "");
    const blocks = bare.trim().split("\n\n");
    assert.deepEqual(
      blocks.map((block) => block.replace(/^\d+\n/, "")),
      blocksOf(expected),
    );
  }
  assert.equal(ffmpeg("webvtt", "WEBVTT\n", "srt"), "");
});

test("ffmpeg and Hlust read times of a hundred hours and more", () => {
  const startMs = 999 * 3_600_000;
  const late = subtitlesOf([
    {
      speakerId: "",
      words: [{ text: "seint", startMs, endMs: startMs + 900 }],
    },
  ]);
  for (const [format, text] of [
    ["srt", writeSrt(late)],
    ["webvtt", writeVtt(late, () => "")],
  ] as const) {
    assert.match(text, /^999:00:00[,.]000 --> 999:00:01[,.]000$/m);
    assert.match(ffmpeg(format, text, "srt"), /^999:00:00,000 --> 999:00:01,000$/m);
    assert.deepEqual(readSubtitles(text)[0]?.startMs, startMs);
  }
});

test("Chromium shows the cues of WebVTT with their text, times and voices", async () => {
  await using opened = new AsyncDisposableStack();
  const files = new Map([
    ["/pop-on.vtt", vtt],
    ["/paint-on.vtt", painted],
  ]);
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? "");
    response.setHeader(
      "content-type",
      file === undefined ? "text/html" : "text/vtt; charset=utf-8",
    );
    response.end(file ?? "<video></video>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port }: Pick<AddressInfo, "port"> = addressOf(server.address());
  const browser = await openBrowser();
  opened.defer(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  const voicesOf = (ids: readonly string[]) => (ids.includes("a") ? [name] : []);
  const timesOf = (shown: Omit<Shown, "lines">) => [shown.startMs / 1000, shown.endMs / 1000];
  assert.deepEqual(
    await page.evaluate(cuesOfTrack("/pop-on.vtt")),
    cues.map((cue) => [...timesOf(cue), cue.lines.join("\n"), voicesOf([cue.speakerId])]),
  );
  assert.deepEqual(
    await page.evaluate(cuesOfTrack("/paint-on.vtt")),
    frames.map(({ lines, ...times }) => [
      ...timesOf(times),
      lines.map(({ text }) => text).join("\n"),
      voicesOf(lines.map(({ speakerId }) => speakerId)),
    ]),
  );
  assert.match(vtt, new RegExp(`^${cueTime(cues[0]?.startMs ?? 0, ".")} --> `, "m"));
});

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === "string") throw new Error("the server is not bound");
  return address;
}
