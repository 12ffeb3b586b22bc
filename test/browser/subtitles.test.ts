// The service's subtitles as read by independent implementations: ffmpeg, and the <track> element
// of a real browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { openBrowser } from "../fixtures/open-browser.ts";
import type { SpokenSegment } from "../../src/transcripts/spoken.ts";
import { cueTime } from "../../src/transcripts/subtitles/cue-time.ts";
import { subtitlesOf } from "../../src/transcripts/subtitles/subtitles.ts";
import { writeSrt } from "../../src/transcripts/subtitles/write-srt.ts";
import { writeVtt } from "../../src/transcripts/subtitles/write-vtt.ts";

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

/** Converts a file to another format with ffmpeg. */
function ffmpeg(from: string, input: string, to: string): string {
  const args = ["-v", "error", "-f", from, "-i", "pipe:0", "-f", to, "pipe:1"];
  const { stdout, stderr, status } = spawnSync("ffmpeg", args, { input, encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
  return stdout;
}

test("ffmpeg reads every cue of both formats with its times and text", () => {
  const expected = cues.map(({ startMs, endMs, lines }) => {
    const time = `${cueTime(startMs, ",")} --> ${cueTime(endMs, ",")}`;
    return `${time}\n${lines.join("\n")}`;
  });
  // ffmpeg would show entities in a voice's name as text.
  const plainVoices = writeVtt(cues, (id) => id);
  for (const written of [ffmpeg("srt", srt, "srt"), ffmpeg("webvtt", plainVoices, "srt")]) {
    // When ffmpeg converts WebVTT, it escapes braces in its own way.
    const bare = written.replaceAll(/\u2060|\r|\\(?=\{)/g, "");
    const blocks = bare.trim().split("\n\n");
    assert.deepEqual(
      blocks.map((block) => block.replace(/^\d+\n/, "")),
      expected,
    );
  }
  assert.equal(ffmpeg("webvtt", "WEBVTT\n", "srt"), "");
});

test("Chromium shows the cues of WebVTT with their text, times and voices", async () => {
  await using opened = new AsyncDisposableStack();
  const server = createServer((request, response) => {
    const isFile = request.url === "/a.vtt";
    response.setHeader("content-type", isFile ? "text/vtt; charset=utf-8" : "text/html");
    response.end(isFile ? vtt : "<video></video>");
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
  const shown: unknown = await page.evaluate(`new Promise((resolve, reject) => {
    const element = document.createElement("track");
    element.src = "/a.vtt";
    element.default = true;
    element.onerror = () => reject(new Error("the track was not loaded"));
    element.onload = () => resolve(Array.from(element.track.cues, (cue) => {
      const html = cue.getCueAsHTML();
      const voice = html.querySelector("[title]");
      return [cue.startTime, cue.endTime, html.textContent, voice ? voice.title : ""];
    }));
    document.querySelector("video").append(element);
    element.track.mode = "hidden";
  })`);
  assert.deepEqual(
    shown,
    cues.map(({ startMs, endMs, lines, speakerId }) => [
      startMs / 1000,
      endMs / 1000,
      lines.join("\n"),
      speakerId === "a" ? name : "",
    ]),
  );
  assert.match(vtt, new RegExp(`^${cueTime(cues[0]?.startMs ?? 0, ".")} --> `, "m"));
});

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === "string") throw new Error("the server is not bound");
  return address;
}
