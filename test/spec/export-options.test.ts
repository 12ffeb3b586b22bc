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

test("options that a format does not have, and wrong values, get 400", async () => {
  const rows: [query: string, message: RegExp][] = [
    ["?format=SRT&options.title=true", /options: are for TEXT, DOCX, ODT, not for SRT/],
    ["?format=JSON&options.speakers=false", /options: are for TEXT, DOCX, ODT, not for JSON/],
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
