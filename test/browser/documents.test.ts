// The XML of exported documents, read by the parser of a real browser, which refuses what is not
// well formed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { longSegments } from "../fixtures/long-transcript.ts";
import { openBrowser } from "../fixtures/open-browser.ts";
import { readZip } from "../fixtures/read-zip.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { draftOf, segmentOf, speaker } from "../spec/transcripts.ts";

let service: TestService;
let browser: Browser;
const opened = new AsyncDisposableStack();
before(async () => {
  service = opened.use(await openTestService({ HLUST_ENGINE: "scripted" }));
  browser = await openBrowser();
  opened.defer(() => browser.close());
});
after(() => opened.disposeAsync());

/** What the browser reads in an XML file. */
interface ReadXml {
  readonly problem: string;
  readonly root: string;
  readonly paragraphs: readonly string[];
}

/** Parses each XML file of a document, as a program that opens the document does. */
async function readDocument(archive: Uint8Array): Promise<Map<string, ReadXml>> {
  await using page = await browser.newPage();
  const found = new Map<string, ReadXml>();
  for (const { path, bytes } of readZip(archive)) {
    if (!/\.(?:xml|rels)$/.test(path)) continue;
    const read: ReadXml = await page.evaluate(`(() => {
      const xml = new DOMParser().parseFromString(${JSON.stringify(bytes.toString())}, "text/xml");
      return {
        problem: xml.querySelector("parsererror")?.textContent ?? "",
        root: xml.documentElement.namespaceURI + " " + xml.documentElement.localName,
        paragraphs: [...xml.querySelectorAll("p")].map((each) => each.textContent),
      };
    })()`);
    assert.equal(read.problem, "", path);
    found.set(path, read);
  }
  return found;
}

async function exported(name: string, format: string): Promise<Uint8Array> {
  const answer = await fetch(`${service.address}/v1alpha1/${name}:export?format=${format}`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  assert.equal(answer.status, 200);
  return await answer.bytes();
}

const roots = {
  DOCX: [
    "word/document.xml",
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main document",
  ],
  ODT: ["content.xml", "urn:oasis:names:tc:opendocument:xmlns:office:1.0 document-content"],
} as const;

test("a document with any text is well formed, and has that text", async () => {
  const hostile = `<w:p/> ]]> & " ' \t \u{1f469}\u200d\u{1f680} \ufffe \u2028 \u202e عربي`;
  const { json } = await service.call("POST", "/v1alpha1/transcripts", {
    ...draftOf(`Titill ${hostile}`, { speakers: { "<a&": speaker(`Nafn ${hostile}`) } }),
    segments: [{ ...segmentOf(hostile), speakerId: "<a&" }],
  });
  const shown = hostile.replaceAll(/\s+/g, " ").replace("\ufffe", "");
  for (const format of ["DOCX", "ODT"] as const) {
    const [path, root] = roots[format];
    const body = (await readDocument(await exported(json.name, format))).get(path);
    assert.equal(body?.root, root);
    assert.deepEqual(body?.paragraphs, [`Titill ${shown}`, `Nafn ${shown}`, `00:00:00${shown}`]);
  }
});

test("a document of eight hours has all words", async () => {
  const words = 72_000;
  const segments = longSegments(words);
  const { json } = await service.call("POST", "/v1alpha1/transcripts", {
    ...draftOf("Átta tímar"),
    segments,
  });
  const said = segments.map((segment) =>
    segment.words
      .map(({ word }) => word)
      .join("")
      .trim(),
  );
  for (const format of ["DOCX", "ODT"] as const) {
    const archive = await exported(json.name, format);
    assert.ok(archive.length < 500_000, `${format} has ${archive.length} bytes`);
    const body = (await readDocument(archive)).get(roots[format][0]);
    const texts = (body?.paragraphs ?? []).slice(1).map((text) => text.slice("00:00:00".length));
    assert.deepEqual(texts, said);
  }
});
