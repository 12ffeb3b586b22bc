// Runs `hlust evaluate` as a program, with the scripted engine and with a real one.
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { wavHeader } from "../src/std/wav.ts";
import { espeak, speak } from "./fixtures/flite.ts";
import { wavOf } from "./fixtures/jobs-fixture.ts";
import { runHlust, type EndedCommand } from "./fixtures/run-hlust.ts";
import { cpuSlowness } from "./fixtures/cpu-slowness.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-evaluate-test-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function evaluate(
  args: readonly string[],
  environment: Record<string, string> = { HLUST_ENGINE: "scripted" },
): Promise<EndedCommand> {
  return await runHlust(["evaluate", ...args], {
    HLUST_DATA: join(folder, "data"),
    ...environment,
  });
}

/**
 * Writes a recording in which speech for the scripted engine (word1, word2, ... of 500 ms each) and
 * silence alternate, with durations in ms.
 */
function writeSpeech(name: string, pieces: readonly number[], sampleRateHertz = 16_000): void {
  const pieceOf = (ms: number, at: number) =>
    new Int16Array((ms * sampleRateHertz) / 1000).fill(at % 2 === 0 ? 1000 : 0);
  const samples = pieces.map(pieceOf);
  const bytes = Buffer.concat(samples.map(({ buffer }) => new Uint8Array(buffer)));
  const header = wavHeader({ sampleRateHertz, dataBytes: bytes.length });
  writeFileSync(join(folder, name), Buffer.concat([header, bytes]));
}

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("a folder is evaluated in each mode, and the report has counts and figures", async () => {
  const talks = join(folder, "talks");
  mkdirSync(talks);
  writeSpeech("talks/a.wav", [1500, 800]);
  write("talks/a.txt", "Word1, word2 word3.\n");
  writeSpeech("talks/b.wav", [1000, 800]);
  write("talks/b.txt", "word1 other more");
  write("talks/notes.md", "not a recording");
  for (const mode of ["short", "job"]) {
    const { code, out, errors } = await evaluate([talks, "--language", "en-US", "--mode", mode]);
    assert.equal(code, 0, errors);
    assert.match(out, /^\/.*talks: 2 recordings, 0:04 of audio, 6 words; normalization standard$/m);
    assert.match(out, new RegExp(`^scripted, ${mode}$`, "m"));
    assert.match(out, /^ {2}a\.wav +3 +0\.0 +0 +0 +0 +0\.0 {2}\(95 %: 0\.0 to 0\.0\)$/m);
    assert.match(out, /^ {2}b\.wav +3 +66\.7 +0 +1 +1 /m);
    assert.match(
      out,
      /word error rate +33\.3 % \(95 %: 0\.0 to 66\.7\) {2}2 of 6 words: 0 ins, 1 del, 1 sub$/m,
    );
    assert.match(out, /^ {2}real-time factor +\d/m);
    assert.doesNotMatch(out, /latency/);
    assert.match(errors, /^2 of 2 recordings$/m);
  }
});

test("live audio is sent in real time, and the latency of final results is measured", async () => {
  writeSpeech("a.wav", [1000, 800, 500, 700]);
  const manifest = write("m.jsonl", '{"recording": "a.wav", "text": "word1 word2 word1"}\n');
  const args = [manifest, "--language", "en-us", "--mode", "live", "--json"];
  const startedAt = performance.now();
  const { code, out, errors } = await evaluate(args);
  assert.equal(code, 0, errors);
  assert.ok(performance.now() - startedAt > 3000, "faster than the audio");
  const [system] = JSON.parse(out).systems;
  assert.equal(system.words.rate, 0);
  assert.equal(system.realTimeFactor, null);
  assert.equal(system.finalLatencyMs.count, 2);
  // An utterance ends after 500 ms of silence.
  assert.ok(system.finalLatencyMs.p50 > 400, JSON.stringify(system.finalLatencyMs));
});

test("two settings are compared, with a test and a page that has the recordings", async () => {
  writeSpeech("one & two.wav", [1000, 300, 1000, 700]);
  writeSpeech("b.wav", [1000, 300, 500, 700]);
  writeSpeech("c.wav", [500, 700]);
  const manifest = write(
    "m.tsv",
    "recording\ttext\tlanguage\none & two.wav\tword1 word2 word1 word2\tis-IS\nb.wav\tword1 word2 word1\tis-IS\nc.wav\t<b>word1</b>\tis-IS\n",
  );
  const html = join(folder, "report.html");
  const args = ["--mode", "live", "--fast", "--against", "silence=200", "--html", html];
  const { code, out, errors } = await evaluate([manifest, ...args, "--json"]);
  assert.equal(code, 0, errors);
  const { systems, comparison } = JSON.parse(out);
  assert.deepEqual(
    systems.map((system: { label: string }) => system.label),
    ["scripted, live (fast)", "scripted, live (fast), silence 200 ms"],
  );
  // With 500 ms, the pauses of 300 ms do not end an utterance: the words are numbered on.
  assert.ok(systems[0].words.errors > systems[1].words.errors, out);
  assert.equal(comparison.test, "matched-pairs permutation");
  assert.equal(comparison.words.better, 2);
  assert.equal(comparison.words.p, 0.5);
  assert.deepEqual(readdirSync(join(folder, "report-recordings")).toSorted(), [
    ".hlust-evaluation",
    "1-one & two.wav",
    "2-b.wav",
    "3-c.wav",
  ]);
  const page = readFileSync(html, "utf8");
  assert.match(page, /src="report-recordings\/1-one%20%26%20two\.wav"/);
  assert.match(page, /&lt;b&gt;word1&lt;\/b&gt;/);
  assert.doesNotMatch(page, /<b>/);
  const text = await evaluate([manifest, ...args]);
  assert.equal(text.code, 0, "the folder of an earlier report is replaced");
  assert.match(
    text.out,
    /words +-\d+\.\d points .*; better on 2 recordings, worse on 0; p = 0\.500/,
  );
});

test("every problem of a manifest is listed before anything is recognized", async () => {
  writeSpeech("a.wav", [1000]);
  writeSpeech("slow.wav", [1000], 4000);
  writeSpeech("fast.wav", [1000], 96_000);
  writeSpeech("long.wav", [31_000]);
  write("text.wav", "this is a text");
  write("empty.wav", "");
  mkdirSync(join(folder, "folder.wav"));
  const rows = [
    { recording: "missing.wav", text: "x" },
    { recording: "slow.wav", text: "x" },
    { recording: "fast.wav", text: "x" },
    { recording: "text.wav", text: "x" },
    { recording: "empty.wav", text: "x" },
    { recording: "folder.wav", text: "x" },
    { recording: "a.wav", text: " ... " },
    { recording: "a.wav", text: "again" },
    { recording: "a.wav", text: "x", language: "fr-FR" },
    { recording: "a.wav", text: "x", model: "scriptd" },
    { recording: "a.wav", text: "x", mode: "batch" },
    { recording: "a.wav", text: "x", speed: "2" },
    { recording: "a.wav", text: "" },
    { recording: "long.wav", text: "x", mode: "short" },
    { recording: "b.wav", text: "x", hints: "Anna; 🎉; a\u0007b" },
    { recording: "c.wav", text: "x", hints: Array.from({ length: 501 }, (_, at) => at).join(";") },
    { recording: "none.wav", text: "", language: "is-IS" },
  ];
  writeSpeech("b.wav", [1000]);
  writeSpeech("c.wav", [1000]);
  const manifest = write(
    "m.jsonl",
    [...rows.map((row) => JSON.stringify(row)), "not JSON"].join("\n"),
  );
  const { code, out, errors } = await evaluate([manifest, "--language", "en-US"]);
  assert.equal(code, 2);
  assert.equal(out, "");
  assert.match(errors, /has 21 problems; nothing was recognized\n/);
  const expected = [
    "line 1: missing.wav does not exist: correct the path",
    "line 2: slow.wav has 4000 samples a second: convert it to a rate from 8000 to 48000, best 16000",
    "line 3: fast.wav has 96000 samples a second: convert it to a rate from 8000 to 48000, best 16000",
    "line 4: text.wav cannot be used: ",
    "line 5: empty.wav cannot be used: the media is empty: 0 bytes",
    "line 6: folder.wav is not a file: correct the path",
    "line 7: the reference text has no words: write what is said, or remove it",
    "line 8: has the same recording as line 7: remove one",
    'line 9: language "fr-FR" has no installed model for the mode job: use one of en-US, is-IS, or install a model',
    'line 10: no model "scriptd" is installed: did you mean scripted?',
    'line 11: mode "batch" is unknown: write short, live, job',
    'line 12: unknown field "speed": the fields are recording, text, language, model, mode, hints',
    "line 13: the reference text is empty: write what is said, or remove the line",
    "line 13: has the same recording as line 7: remove one",
    "line 14: long.wav is 31.0 s long: short recognition takes less than 30 s; use the mode job or live",
    'line 15: the hint "🎉" has no letter or digit',
    'line 15: the hint "a\\u0007b" has a control character',
    "line 16: has 501 hints: at most 500 are allowed",
    "line 17: the reference text is empty: write what is said, or remove the line",
    "line 17: none.wav does not exist: correct the path",
    "line 18: is not JSON: write one object per line",
  ];
  const lines = errors.trimEnd().split("\n").slice(1);
  assert.equal(lines.length, expected.length);
  for (const [at, line] of lines.entries()) assert.ok(line.startsWith(`  ${expected[at]}`), line);
});

test("hints of a manifest are compared with the same recordings without hints", async () => {
  const text = "I met Siobhan Kowalczyk at the station.";
  writeFileSync(join(folder, "named.wav"), speak(text));
  const row = { recording: "named.wav", text, language: "en-US", hints: "Siobhan Kowalczyk" };
  const manifest = write("m.jsonl", JSON.stringify({ ...row, mode: "short" }));
  const against = ["--against", "hints=off", "--parallel", "1"];
  const args = [manifest, ...against, "--model", "pocketsphinx-en-US", "--json"];
  const { code, out, errors } = await evaluate(args, {});
  assert.equal(code, 0, errors);
  const { systems } = JSON.parse(out);
  assert.deepEqual(
    systems.map(({ label }: { label: string }) => label),
    ["pocketsphinx-en-US, short, hints of boost 10", "pocketsphinx-en-US, short, no hints"],
  );
  const [hinted, plain] = systems.map(({ words }: { words: { errors: number } }) => words.errors);
  assert.equal(hinted, 0, out);
  assert.ok(plain > 0, out);
});

test("every problem of a folder is listed", async () => {
  const talks = join(folder, "talks");
  mkdirSync(talks);
  writeSpeech("talks/a.wav", [1000]);
  writeSpeech("talks/b.wav", [1000]);
  write("talks/b.txt", "\n");
  write("talks/c.txt", "c");
  writeSpeech("talks/d.wav", [1000]);
  writeFileSync(join(talks, "d.txt"), Buffer.from([0x66, 0xff]));
  writeSpeech("talks/e.wav", [1000], 4000);
  write("talks/e.txt", " ");
  const { code, errors } = await evaluate([talks, "--language", "en-US"]);
  assert.equal(code, 2);
  assert.equal(
    errors,
    `hlust: ${talks} has 6 problems; nothing was recognized\n` +
      "  a.wav: has no text: write a.txt, or remove it\n" +
      "  b.txt: the reference text is empty: write what is said, or remove the recording\n" +
      "  c.txt: has no recording of the same name: add it, or remove it\n" +
      "  d.txt: is not UTF-8 text: convert it\n" +
      "  e.txt: the reference text is empty: write what is said, or remove the recording\n" +
      "  e.wav: has 4000 samples a second: convert it to a rate from 8000 to 48000, best 16000\n",
  );
  const none = await evaluate([join(folder, "nowhere")]);
  assert.equal(none.code, 2);
  assert.match(none.errors, /nowhere: does not exist: give a folder, or a TSV or JSONL file\n$/);
});

test("invalid arguments exit with 2 and the help", async () => {
  writeSpeech("a.wav", [1000]);
  const manifest = write("m.tsv", "a.wav\tword1\n");
  mkdirSync(join(folder, "talks-recordings"));
  const rows: [args: string[], message: RegExp][] = [
    [[], /give a manifest: a folder or a file/],
    [[manifest, "more"], /unexpected argument "more"/],
    [[manifest, "--mode", "batch"], /--mode must be short or live or job, not "batch"/],
    [[manifest, "--silence", "5"], /--silence must be a whole number of milliseconds from 100 to/],
    [[manifest, "--against", "speed=2"], /--against must be model=\.\.\., mode=/],
    [[manifest, "--against", "mode=live,mode=job"], /--against has mode twice/],
    [[manifest, "--against", "hints=on"], /--against hints must be off, or a boost from 0 to 20/],
    [[manifest, "--hints", "21"], /--hints must be off, or a boost from 0 to 20, not "21"/],
    [
      [manifest, "--modle", "x"],
      /^hlust: unknown option --modle: did you mean --mode, --model\?\n/,
    ],
    [[manifest, "--zzzzzz"], /^hlust: unknown option --zzzzzz\n/],
    [[manifest, "--model"], /^hlust: --model needs a value\n/],
    [[manifest, "--model", "--json"], /^hlust: --model needs a value\n/],
    [[manifest, "--json=yes"], /^hlust: --json takes no value\n/],
    [
      [manifest, "--language", "en-US", "--against", "mode=job,hints=5"],
      /--against changes nothing: every recording has these settings already; give other ones/,
    ],
    [[manifest, "--normalize", "some"], /--normalize must be standard or plain or none/],
    [[manifest, "--html", "report.txt"], /--html must end in \.html/],
    [[manifest, "--html", join(folder, "none/report.html")], /--html: there is no folder/],
    [[manifest, "--html", join(folder, "talks.html")], /talks-recordings exists and is not from/],
    [[manifest, "--parallel", "0"], /--parallel must be a whole number from 1 to 256/],
  ];
  for (const [args, message] of rows) {
    const { code, errors } = await evaluate(args);
    assert.equal(code, 2, args.join(" "));
    assert.match(errors, message);
    assert.match(errors, /^Usage: hlust evaluate MANIFEST/m);
  }
  const language = await evaluate([manifest]);
  assert.match(
    language.errors,
    /line 1: has no language: add the field language, or give --language/,
  );
});

test("two models are compared side by side, in the text and in a page", async () => {
  const models = join(folder, "models");
  const card = join(models, "bare/model.json");
  const starter = join(import.meta.dirname, "../models/is-IS-starter");
  cpSync(starter, join(models, "bare"), { recursive: true });
  // The same network without its lexicon, which makes more errors.
  const { files, ...rest } = JSON.parse(readFileSync(card, "utf8"));
  const { model, tokens } = files;
  const bare = { ...rest, name: "bare", options: {}, files: { model, tokens } };
  writeFileSync(card, JSON.stringify(bare));
  const texts = ["hún fór heim í gær og keypti mjólk", "við hittumst á kaffihúsinu í kvöld"];
  for (const [at, text] of texts.entries()) {
    writeFileSync(join(folder, `talk${at}.wav`), wavOf(espeak(text, { voice: "is+f4" })));
    write(`talk${at}.txt`, text);
  }
  const html = join(folder, "report.html");
  const args = [folder, "--language", "is-IS", "--model", "is-IS-starter", "--mode", "short"];
  const compared = [...args, "--against", "model=bare", "--html", html];
  const { code, out, errors } = await evaluate(compared, { HLUST_MODELS: models });
  assert.equal(code, 0, errors);
  assert.match(out, /^bare, short against is-IS-starter, short$/m);
  assert.match(out, /words .*; better on 0 recordings, worse on [12]; p = /);
  const page = readFileSync(html, "utf8");
  assert.match(page, /<th scope="col">is-IS-starter, short<\/th><th scope="col">bare, short<\/th>/);
  assert.equal(page.match(/<h4>bare, short: /g)?.length, texts.length);
});

test("a model that cannot be loaded is reported for each of its recordings", async () => {
  const models = join(folder, "models");
  const broken = join(models, "broken");
  mkdirSync(broken, { recursive: true });
  for (const file of ["model.onnx", "tokens.txt"]) writeFileSync(join(broken, file), "not a model");
  const card = {
    name: "broken",
    version: "1",
    languageCodes: ["en-US"],
    engine: "ctc",
    kind: "zipformer-ctc",
    sampleRateHertz: 16_000,
    files: { model: { path: "model.onnx" }, tokens: { path: "tokens.txt" } },
    licence: "CC0-1.0",
    source: "made by a test",
    trainedOn: "nothing",
  };
  writeFileSync(join(broken, "model.json"), JSON.stringify(card));
  writeSpeech("a.wav", [1000]);
  const manifest = write("m.tsv", "a.wav\tword1\ten-US\tbroken\n");
  const { code, out } = await evaluate([manifest], { HLUST_MODELS: models });
  assert.equal(code, 1);
  assert.match(
    out,
    /^ {2}a\.wav +not recognized: the model broken cannot be used: model\.onnx: is not/m,
  );
});

test(
  "real recordings are recognized with few errors",
  { timeout: 170_000 * cpuSlowness },
  async () => {
    const texts = [
      "She walked along the river until the sun went down.",
      "The weather is cold today.",
    ];
    for (const [at, text] of texts.entries()) {
      writeFileSync(join(folder, `talk${at}.wav`), speak(text, { voice: "rms" }));
      write(`talk${at}.txt`, text);
    }
    const args = [folder, "--language", "en-US", "--model", "pocketsphinx-en-US", "--json"];
    const { code, out, errors } = await evaluate(args, {});
    assert.equal(code, 0, errors);
    const [system] = JSON.parse(out).systems;
    assert.equal(system.words.length, 15);
    assert.ok(system.words.errors <= 3, out);
    assert.ok(system.realTimeFactor > 0);
    assert.ok(!existsSync(join(folder, "data")), "an evaluation writes no data");
  },
);
