// Extension of §4: documents, and the options of exports.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readZip } from "../fixtures/read-zip.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf, segmentOf, speaker } from "./transcripts.ts";

let service: TestService;
let path: string;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  const { json } = await service.call("POST", "/v1alpha1/transcripts", {
    ...draftOf("Ávarp: dagur 1/2", { speakers: { a: speaker("Anna & Co") } }),
    segments: [
      { ...segmentOf("Góðan dag, "), speakerId: "a" },
      { ...segmentOf("verið velkomin <3", 2), speakerId: "b" },
    ],
  });
  path = `/v1alpha1/${json.name}`;
});
after(() => service[Symbol.asyncDispose]());

const file = (query: string) =>
  fetch(`${service.address}${path}:export${query}`, {
    headers: { authorization: `Bearer ${service.key}` },
  });

test("documents are exported with speakers, times and title as the query says", async () => {
  const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  const rows: [format: string, query: string, type: string, path: string, lines: string[]][] = [
    [
      "DOCX",
      "",
      word,
      "word/document.xml",
      [
        "Ávarp: dagur 1/2",
        "Anna &amp; Co",
        "00:00:00Góðan dag,",
        "b",
        "00:00:02verið velkomin &lt;3",
      ],
    ],
    [
      "ODT",
      "&options.speakers=false&options.times=NONE&options.title=false",
      "application/vnd.oasis.opendocument.text",
      "content.xml",
      ["Góðan dag,", "verið velkomin &lt;3"],
    ],
  ];
  for (const [format, query, type, path, lines] of rows) {
    const answer = await file(`?format=${format}${query}`);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), type);
    const ending = format.toLowerCase();
    const disposition = answer.headers.get("content-disposition") ?? "";
    assert.ok(disposition.includes(`filename="Avarp dagur 1 2.${ending}"`), disposition);
    const files = readZip(new Uint8Array(await answer.arrayBuffer()));
    const xml = files.find((each) => each.path === path)?.bytes.toString() ?? "";
    const texts = xml
      .split(/<\/(?:w|text):p>/)
      .map((part) => part.replaceAll(/<[^>]*>/g, "").trim());
    assert.deepEqual(
      texts.filter((text) => text !== ""),
      lines,
    );
  }
  const text = await file("?format=TEXT&options.title=true&options.intervalSeconds=5");
  assert.equal(
    await text.text(),
    "Ávarp: dagur 1/2\n\n[00:00:00] Anna & Co: Góðan dag,\n\n[00:00:02] b: verið velkomin <3\n",
  );
});

test("subtitles have the line lengths, the lines and the names that the query asks for", async () => {
  const { json } = await service.call("POST", "/v1alpha1/transcripts", {
    ...draftOf("Fundur", { speakers: { a: speaker("Anna"), b: speaker("") } }),
    segments: [
      { ...segmentOf("Þetta er fyrsti fundur nefndarinnar á þessum vetri."), speakerId: "a" },
      { ...segmentOf("Við förum yfir dagskrána.", 4), speakerId: "a" },
      { ...segmentOf("Sæl.", 8), speakerId: "c" },
    ],
  });
  const textsOf = async (query: string): Promise<string[]> => {
    const answer = await fetch(`${service.address}/v1alpha1/${json.name}:export?${query}`, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    assert.equal(answer.status, 200, query);
    const text = await answer.text();
    return text
      .replace("WEBVTT\n\n", "")
      .trimEnd()
      .split("\n\n")
      .map((block) => block.split("\n").slice(2).join("|"));
  };
  const usual = [
    "Þetta er fyrsti fundur|nefndarinnar á þessum vetri.",
    "Við förum yfir dagskrána.",
    "Sæl.",
  ];
  const rows: [query: string, texts: string[]][] = [
    ["format=SRT", usual],
    ["format=SRT&options.lineChars=0&options.lines=0", usual],
    [
      "format=SRT&options.lineChars=80",
      ["Þetta er fyrsti fundur nefndarinnar á þessum vetri.", ...usual.slice(1)],
    ],
    [
      "format=SRT&options.lines=1&options.lineChars=80",
      ["Þetta er fyrsti fundur nefndarinnar á þessum vetri.", ...usual.slice(1)],
    ],
    [
      "format=SRT&options.speakers=true",
      [
        "Anna:\u00a0Þetta er fyrsti fundur|nefndarinnar á þessum vetri.",
        "Við förum yfir dagskrána.",
        "c:\u00a0Sæl.",
      ],
    ],
    ["format=VTT&options.speakers=false", usual],
    [
      "format=VTT_POP_ON&options.lineChars=60",
      [
        "<v Anna>Þetta er fyrsti fundur nefndarinnar á þessum vetri.",
        "<v Anna>Við förum yfir dagskrána.",
        "<v c>Sæl.",
      ],
    ],
  ];
  for (const [query, texts] of rows) assert.deepEqual(await textsOf(query), texts, query);
  const short = await textsOf(
    "format=VTT&options.speakers=false&options.lines=1&options.lineChars=20",
  );
  assert.ok(short.length > 4);
  for (const text of short) assert.ok(text.length <= 20 && !text.includes("|"), text);
});

test("options that a format does not have, and wrong values, get 400", async () => {
  const rows: [query: string, message: RegExp][] = [
    ["?format=SRT&options.title=true", /options.title: is for TEXT, DOCX, ODT, not for SRT/],
    ["?format=VTT&options.times=NONE", /options.times: is for TEXT, DOCX, ODT, not for VTT/],
    [
      "?format=VTT_POP_ON&options.intervalSeconds=9",
      /options.intervalSeconds: is for TEXT, DOCX, /,
    ],
    ["?format=ODT&options.lines=1", /options.lines: is for SRT, VTT, VTT_POP_ON, not for ODT/],
    [
      "?format=TEXT&options.lineChars=40",
      /options.lineChars: is for SRT, VTT, VTT_POP_ON, not for T/,
    ],
    ["?format=SRT&options.lineChars=19", /options.lineChars: must be 0, or 20 to 100, not 19/],
    ["?format=SRT&options.lineChars=101", /options.lineChars: must be 0, or 20 to 100, not 101/],
    ["?format=SRT&options.lines=3", /options.lines: must be 0, or 1 to 2, not 3/],
    ["?format=SRT&options.lines=-1", /options.lines: must be 0, or 1 to 2, not -1/],
    [
      "?format=JSON&options.speakers=false",
      /options: are for TEXT, DOCX, ODT, SRT, VTT, VTT_POP_ON, not for JSON/,
    ],
    ["?format=ODT&options.times=7", /options.times: NONE or PARAGRAPH is expected, not 7/],
    ["?format=ODT&options.times=ALL", /options.times/],
    ["?format=ODT&options.speakers=yes", /options.speakers/],
    ["?format=ODT&options.pages=true", /options.pages/],
    ["?format=DOCX&options.intervalSeconds=4", /intervalSeconds: must be 0, or 5 to 3600, not 4/],
    ["?format=DOCX&options.intervalSeconds=-1", /intervalSeconds: must be 0, or 5 to 3600, not -1/],
    [
      "?format=DOCX&options.intervalSeconds=3601",
      /intervalSeconds: must be 0, or 5 to 3600, not 3601/,
    ],
    [
      "?format=DOCX&options.times=NONE&options.intervalSeconds=60",
      /intervalSeconds: must be 0 without times, not 60/,
    ],
  ];
  for (const [query, message] of rows) {
    const { json, status } = await service.call("GET", `${path}:export${query}`);
    assert.equal(status, 400, query);
    assert.match(json.message, message, query);
  }
});

test("a text is imported with its speakers and times, and exported unchanged", async () => {
  const text =
    "[00:00:01] Anna: Góðan dag\n\n[00:00:03] Bo: Já, góðan dag\n\n[00:00:10] Anna: Jæja\n";
  const { status, json } = await service.call("POST", "/v1alpha1/transcripts:import", {
    metadata: { fileType: "VIDEO", languageCode: "is-IS" },
    format: "TEXT",
    content: text,
  });
  assert.equal(status, 200, JSON.stringify(json));
  const { json: transcript } = await service.call("GET", `/v1alpha1/${json.name}`);
  const { metadata, segments } = transcript;
  assert.deepEqual(metadata.speakers, { "1": speaker("Anna"), "2": speaker("Bo") });
  assert.deepEqual([metadata.dataSource, metadata.originalCharLength], ["USER", 28]);
  assert.deepEqual(
    segments.map((segment: Record<string, string>) => [segment["startTime"], segment["speakerId"]]),
    [
      ["1s", "1"],
      ["3s", "2"],
      ["10s", "1"],
    ],
  );
  assert.equal(segments[0].words[0].estimatedTimes, true);
  const again = await fetch(
    `${service.address}/v1alpha1/${json.name}:export?format=TEXT&options.times=PARAGRAPH`,
    { headers: { authorization: `Bearer ${service.key}` } },
  );
  assert.equal(await again.text(), text);
});

test("a transcript as exported in JSON is imported with its metadata, and fields replace them", async () => {
  const { json: made } = await service.call("POST", "/v1alpha1/transcripts", {
    ...draftOf("Upphaf", { speakers: { a: speaker("Anna") }, keywords: ["dagur"] }),
    segments: [{ ...segmentOf("góðan dag og "), speakerId: "a" }, segmentOf("velkomin öll", 2)],
  });
  const { json: original } = await service.call("GET", `/v1alpha1/${made.name}`);
  const content = `\ufeff${JSON.stringify(original, null, 2)}`;
  const { status, json } = await service.call("POST", "/v1alpha1/transcripts:import", {
    metadata: { subject: "Afrit" },
    content,
  });
  assert.equal(status, 200, JSON.stringify(json));
  const { json: copy } = await service.call("GET", `/v1alpha1/${json.name}`);
  assert.deepEqual(copy.segments, original.segments);
  const { subject, speakers, keywords, languageCode } = copy.metadata;
  assert.deepEqual(
    { subject, speakers, keywords, languageCode },
    {
      subject: "Afrit",
      speakers: original.metadata.speakers,
      keywords: ["dagur"],
      languageCode: original.metadata.languageCode,
    },
  );
});
