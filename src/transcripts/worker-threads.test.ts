import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { compareWords } from "./diff/compare-words.ts";
import { readFile } from "./read-file.ts";
import { defaultOptionsOf } from "./export-options.ts";
import { runInWorkerThread } from "./worker-threads.ts";
import { segmentsFromJson, segmentsJson } from "./segments.ts";
import { spokenJson, spokenSegments, type SpokenSegment } from "./spoken.ts";
import { writeFile, type FileContent } from "./write-file.ts";

const { signal } = new AbortController();
const accountId = "a";
const words = ["þetta ", "er ", "fundur, ", "og ", "við ", "segjum. ", "nefndin "];

/** Creates 4 hours of speech with 36,000 words. */
function talk(shiftMs = 0): SpokenSegment[] {
  return Array.from({ length: 2000 }, (_, at) => {
    const startMs = at * 7200 + shiftMs;
    const spoken = Array.from({ length: 18 }, (_, word) => ({
      text: words[(word * at + word) % words.length] ?? "",
      startMs: startMs + word * 400,
      endMs: startMs + word * 400 + 380,
    }));
    return { startMs, endMs: startMs + 7200, speakerId: `${at % 3}`, words: spoken };
  });
}

function packed(segments: readonly SpokenSegment[]): FileContent["segments"] {
  const json = Buffer.from(spokenJson(segments));
  return { jsonZstd: zstdCompressSync(json), jsonBytes: json.length };
}

function contentOf(segments: readonly SpokenSegment[]): FileContent {
  return {
    format: "VTT",
    segments: packed(segments),
    names: new Map(),
    recordingMs: null,
    title: "",
    languageCode: "is-IS",
    options: defaultOptionsOf("TEXT"),
  };
}

test("spokenSegments() reverses spokenJson()", () => {
  const segments = talk(1).slice(0, 3);
  assert.deepEqual(spokenSegments(spokenJson(segments)), segments);
  const sure = segments.map((segment) => ({
    ...segment,
    words: segment.words.map((word, at) => (at % 2 ? word : { ...word, confidence: at / 100 })),
  }));
  assert.deepEqual(spokenSegments(spokenJson(sure)), sure);
  assert.equal(spokenJson(sure), segmentsJson(segmentsFromJson(JSON.parse(spokenJson(sure)))));
  assert.match(
    spokenJson(segments),
    /^\[\{"startTime":"0\.001s","endTime":"7\.201s","words":\[\{"startTime":"0\.001s"/,
  );
  assert.match(spokenJson(talk().slice(1, 2)), /^\[\{"startTime":"7\.200s"/);
});

test("long tasks run in a worker thread, with the same result", async () => {
  const content = contentOf(talk());
  const bytes = content.segments.jsonBytes;
  const before = process.threadCpuUsage();
  const here = writeFile(content);
  const hereUs = cpuUs(before);
  const start = process.threadCpuUsage();
  const there = await runInWorkerThread(writeFile, content, { bytes, accountId, signal });
  const asideUs = cpuUs(start);
  assert.ok(here && there);
  assert.deepEqual(Buffer.from(there), here);
  assert.ok(asideUs < hereUs / 2, `${asideUs} us of ${hereUs} us`);

  const names = new Map<string, string>();
  const file = { content: Buffer.from(here).toString(), format: "VTT", names } as const;
  const read = await runInWorkerThread(readFile, file, {
    bytes: file.content.length,
    accountId,
    signal,
  });
  assert.ok("text" in read);
  assert.deepEqual([...read.names.values()], ["0", "1", "2"]);
  assert.ok(read.text.textChars > 200_000);

  const other = { before: content.segments, after: packed(talk(5)), skip: 0, runsMax: 10 };
  const { counts, runs } = await runInWorkerThread(compareWords, other, {
    bytes,
    accountId,
    signal,
  });
  assert.deepEqual(counts, { KEPT: 0, RETIMED: 36_000, ADDED: 0, REMOVED: 0 });
  assert.deepEqual(runs[0]?.times, { start: "0.005s", end: "14399.985s" });
});

function cpuUs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  return user + system;
}

test("an error in a worker thread reaches the caller, and an abort ends the task", async () => {
  const content = contentOf(talk());
  const bytes = content.segments.jsonBytes;
  const broken = { ...content, segments: { jsonZstd: Buffer.from("x"), jsonBytes: bytes } };
  await assert.rejects(
    runInWorkerThread(writeFile, broken, { bytes, accountId, signal }),
    /ZSTD|Src|frame/i,
  );
  const gone = new AbortController();
  const reason = new Error("the caller went away");
  const tasks = Array.from({ length: 4 }, () =>
    runInWorkerThread(writeFile, content, { bytes, accountId, signal: gone.signal }),
  );
  const settled = Promise.allSettled(tasks);
  gone.abort(reason);
  for (const result of await settled) assert.deepEqual(result, { status: "rejected", reason });
  const text = await runInWorkerThread(
    writeFile,
    { ...content, format: "TEXT" },
    { bytes, accountId, signal },
  );
  assert.ok(text && Buffer.from(text).toString().startsWith("0: þetta er fundur, og við"));
});

test("at most ten tasks of an account wait, and other accounts do not wait for all of them", async () => {
  const content = contentOf(talk());
  const bytes = content.segments.jsonBytes;
  const gone = new AbortController();
  const flood = Array.from({ length: 200 }, () =>
    runInWorkerThread(writeFile, content, { bytes, accountId, signal: gone.signal }),
  );
  const settled = Promise.allSettled(flood);
  await assert.rejects(Promise.race(flood), { code: "resource_exhausted", reason: "FILES_BUSY" });
  gone.abort(new Error("the caller went away"));
  const other = { ...content, format: "TEXT" } as const;
  await runInWorkerThread(writeFile, other, { bytes, accountId: "b", signal });
  const results = await settled;
  assert.ok(results.every(({ status }) => status === "rejected"));
});
