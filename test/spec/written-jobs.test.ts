// The written text of jobs, with the default models: enableAutomaticPunctuation, enableFormatting
// and profanityFilter of the submit request, and what is made of such a transcript.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { espeak, flite, joined, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { readZip } from "../fixtures/read-zip.ts";
import { AlignmentCalls } from "./alignment.ts";
import { pollJob, textOf } from "./jobs.ts";
import { openMediaHost, type MediaHost } from "./media-host.ts";
import { openTestService, type TestService } from "./service.ts";
import { secondsOf } from "./stream.ts";

let service: TestService;
let host: MediaHost;
let calls: AlignmentCalls;

const icelandic = [
  "það kostar tvö hundruð og fimmtíu krónur",
  "hún kemur tuttugasta og fyrsta janúar",
  "hvað er klukkan",
];
const english = ["the ticket costs two hundred and fifty dollars", "this is a damn good idea"];

before(async () => {
  const pause = silence(1_000);
  const talk = (parts: readonly Int16Array[]) =>
    wavOf(joined(silence(300), ...parts.flatMap((part) => [part, pause])));
  host = await openMediaHost({
    "/is.wav": talk(icelandic.map((sentence) => espeak(sentence))),
    "/en.wav": talk(english.map((sentence) => flite(sentence))),
  });
  service = await openTestService({ HLUST_LOG: "silent" });
  calls = new AlignmentCalls(service);
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

interface Word {
  readonly word: string;
  readonly spoken?: string;
  readonly startTime: string;
  readonly endTime: string;
}
interface Transcript {
  readonly name: string;
  readonly segments: { readonly words: Word[] }[];
}

async function transcribed(languageCode: string, options: object): Promise<Transcript> {
  const { status, json } = await service.call("POST", "/v1alpha1/transcriptjob:submit", {
    metadata: { languageCode, fileType: "AUDIO" },
    useUri: true,
    uri: `${host.address}/${languageCode.slice(0, 2)}.wav`,
    ...options,
  });
  assert.equal(status, 200, JSON.stringify(json));
  const { last } = await pollJob(service, json.name, 120);
  assert.equal(last.state, "SUCCESS", JSON.stringify(last));
  return await calls.get(last.transcript);
}

const wordsOf = ({ segments }: Transcript) => segments.flatMap(({ words }) => words);
const written = { enableAutomaticPunctuation: true, enableFormatting: true };

/** Returns the words as they were spoken, in small letters. */
function unwritten(transcript: Transcript): string {
  const spoken = wordsOf(transcript).map(({ word, spoken }) => spoken ?? word.trim());
  return spoken.map((word) => word.replace(/[.,?]$/, "").toLowerCase()).join(" ");
}

test("jobs write what they are asked to, and keep the spoken words with their times", async () => {
  const rows: [language: string, spoken: string, options: object, expected: string][] = [
    ["is-IS", icelandic.join(" "), {}, icelandic.join(" ")],
    [
      "is-IS",
      icelandic.join(" "),
      written,
      "Það kostar 250 kr. Hún kemur 21. janúar. Hvað er klukkan?",
    ],
    ["en-US", english.join(" "), {}, english.join(" ")],
    ["en-US", english.join(" "), written, "The ticket costs $250. This is a damn good idea."],
    [
      "en-US",
      english.join(" "),
      { enableFormatting: true },
      "the ticket costs $250 this is a damn good idea",
    ],
  ];
  const plain = new Map<string, Transcript>();
  for (const [language, spoken, options, expected] of rows) {
    const transcript = await transcribed(language, options);
    assert.equal(textOf({ segments: transcript.segments }), expected);
    assert.equal(unwritten(transcript), spoken);
    const before = plain.get(language) ?? transcript;
    plain.set(language, before);
    // Each word has the span of its spoken words.
    const spans = wordsOf(before);
    let at = 0;
    for (const { word, spoken = word.trim(), startTime, endTime } of wordsOf(transcript)) {
      const own = spans.slice(at, (at += spoken.split(" ").length));
      assert.deepEqual([startTime, endTime], [own[0]?.startTime, own.at(-1)?.endTime], word);
    }
    assert.equal(at, spans.length);
  }
});

test("profanityFilter masks words of a job, without other changes", async () => {
  const { segments } = await transcribed("en-US", { profanityFilter: true });
  assert.equal(textOf({ segments }), english.join(" ").replace("damn", "d***"));
});

test("a written transcript is exported, saved again and aligned by its spoken words", async () => {
  const transcript = await transcribed("is-IS", written);
  const { name, segments } = transcript;
  const amount = wordsOf(transcript).find(({ word }) => word.startsWith("250"));
  assert.equal(amount?.spoken, "tvö hundruð og fimmtíu");
  const fileOf = async (format: string): Promise<Buffer> => {
    const headers = { authorization: `Bearer ${service.key}` };
    const path = `${service.address}/v1alpha1/${name}:export?format=${format}`;
    return Buffer.from(await (await fetch(path, { headers })).arrayBuffer());
  };
  const exported = async (format: string): Promise<string> => (await fileOf(format)).toString();
  for (const format of ["SRT", "VTT", "TEXT"]) {
    const text = (await exported(format)).replaceAll(/\s+/g, " ");
    assert.match(text, /Það kostar 250 kr\. .*Hún kemur 21\. janúar\. .*Hvað er klukkan\?/, format);
  }
  for (const [format, part] of [
    ["DOCX", "word/document.xml"],
    ["ODT", "content.xml"],
  ] as const) {
    const xml = readZip(await fileOf(format))
      .find(({ path }) => path === part)
      ?.bytes.toString();
    const text = xml?.replaceAll(/<[^>]*>/g, "") ?? "";
    for (const sentence of ["Það kostar 250 kr.", "Hún kemur 21. janúar."]) {
      assert.ok(text.includes(sentence), format);
    }
  }
  assert.deepEqual(JSON.parse(await exported("JSON")).segments, segments);

  // All words at the start of their segment: alignment finds where the spoken words are.
  const moved = segments.map((segment) => ({
    ...segment,
    words: segment.words.map((word) => {
      const [first] = segment.words;
      return { ...word, startTime: first?.startTime, endTime: first?.startTime };
    }),
  }));
  const saved = await service.call("PATCH", `/v1alpha1/${name}`, { segments: moved });
  assert.equal(saved.status, 200, JSON.stringify(saved.json));
  const { state, error } = await calls.ended(await calls.begin(name));
  assert.equal(state, "SUCCESS", JSON.stringify(error));
  const aligned: Transcript = await calls.get(name);
  assert.deepEqual(
    wordsOf(aligned).map(({ word, spoken }) => [word, spoken]),
    wordsOf(transcript).map(({ word, spoken }) => [word, spoken]),
  );
  const offs = wordsOf(aligned).flatMap((word, at) => {
    const { startTime, endTime } = wordsOf(transcript)[at] ?? word;
    return [
      Math.abs(secondsOf(word.startTime) - secondsOf(startTime)),
      Math.abs(secondsOf(word.endTime) - secondsOf(endTime)),
    ];
  });
  assert.ok(Math.max(...offs) < 0.3, offs.join(" "));
});
