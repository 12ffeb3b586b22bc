// The files in documents. test/browser/documents.test.ts reads their XML with a strict parser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readZip } from "../../../test/fixtures/read-zip.ts";
import { documentParagraphs, type FileOptions } from "./paragraphs.ts";
import { writeDocx, type DocumentContent } from "./write-docx.ts";
import { writeOdt } from "./write-odt.ts";

const allOptions = { speakers: true, times: true, intervalSeconds: 0, title: true };

function segment(speakerId: string, startMs: number, ...texts: string[]) {
  const words = texts.map((text, at) => ({ text, startMs: startMs + at * 1000, endMs: startMs }));
  return { startMs, endMs: startMs, speakerId, words };
}

const segments = [
  segment("a", 0, "Góðan ", "dag, ", "verið ", "velkomin."),
  segment("a", 61_000, "Og ", "svo."),
  segment("b", 3_725_999, 'Já <& "', "nei\u0001 \u{1f600}\ufffe."),
  segment("b", 3_800_000, " \n"),
  segment("", 3_900_000, "Takk."),
];
const nameOf = (id: string) => (id === "a" ? "Anna <Á>" : id);

function contentOf(chosen: Partial<FileOptions> = {}, more: Partial<DocumentContent> = {}) {
  const options = { ...allOptions, ...chosen };
  const paragraphs = documentParagraphs(segments, nameOf, options);
  const title = "Fundur & <fleira>";
  return { title, languageCode: "is-IS", paragraphs, options, charsMax: 1 << 20, ...more };
}

function filesOf(archive: Uint8Array | undefined): Map<string, string> {
  assert.ok(archive);
  return new Map(readZip(archive).map(({ path, bytes }) => [path, bytes.toString()]));
}

/** Returns the texts of the paragraphs in a document's XML; a tab is written as " | ". */
function linesOf(xml: string, element: "w:p" | "text:p"): string[] {
  const whole = new RegExp(`<${element}[ >].*?</${element}>`, "g");
  return [...xml.matchAll(whole)].map(([text]) =>
    text.replaceAll(/<(?:w|text):tab\/>/g, " | ").replaceAll(/<[^>]*>/g, ""),
  );
}

test("both documents have the title, the speakers and the times that the options name", () => {
  const escaped = "Já &lt;&amp; &quot;nei \u{1f600}.";
  const title = "Fundur &amp; &lt;fleira&gt;";
  const anna = "Anna &lt;Á&gt;";
  const rows: [chosen: Partial<FileOptions>, lines: string[]][] = [
    [
      {},
      [
        title,
        anna,
        "00:00:00 | Góðan dag, verið velkomin.",
        "00:01:01 | Og svo.",
        "b",
        `01:02:05 | ${escaped}`,
        "01:05:00 | Takk.",
      ],
    ],
    [
      { speakers: false, times: false, title: false },
      ["Góðan dag, verið velkomin.", "Og svo.", escaped, "Takk."],
    ],
    [
      { speakers: false, title: false, intervalSeconds: 2 },
      [
        "00:00:00 | Góðan dag, 00:00:02 verið velkomin.",
        "00:01:01 | Og svo.",
        `01:02:05 | ${escaped}`,
        "01:05:00 | Takk.",
      ],
    ],
    [
      { times: false },
      [title, anna, "Góðan dag, verið velkomin.", "Og svo.", "b", escaped, "Takk."],
    ],
  ];
  for (const [chosen, lines] of rows) {
    const docx = filesOf(writeDocx(contentOf(chosen))).get("word/document.xml") ?? "";
    assert.deepEqual(linesOf(docx, "w:p"), lines);
    const odt = filesOf(writeOdt(contentOf(chosen))).get("content.xml") ?? "";
    assert.deepEqual(linesOf(odt, "text:p"), lines);
  }
});

test("a DOCX names the type of each of its files, and relations lead to files", () => {
  const files = filesOf(writeDocx(contentOf()));
  assert.equal([...files.keys()][0], "[Content_Types].xml");
  const types = files.get("[Content_Types].xml") ?? "";
  const named = [...types.matchAll(/PartName="\/([^"]+)"/g)].map(([, path]) => path);
  const parts = [...files.keys()].filter((path) => !/\.rels$|^\[/.test(path));
  assert.deepEqual(new Set(named), new Set(parts));
  assert.equal(named.length, parts.length);
  for (const [path, folder] of [
    ["_rels/.rels", ""],
    ["word/_rels/document.xml.rels", "word/"],
  ] as const) {
    const targets = [...(files.get(path) ?? "").matchAll(/Target="([^"]+)"/g)];
    assert.ok(targets.length > 1);
    for (const [, target] of targets) assert.ok(files.has(`${folder}${target}`), target);
  }
  const styles = files.get("word/styles.xml") ?? "";
  for (const [, id] of (files.get("word/document.xml") ?? "").matchAll(/Style w:val="([^"]+)"/g)) {
    assert.ok(styles.includes(`w:styleId="${id}"`), id);
  }
});

test("an ODT begins with its media type, and its manifest lists its files", () => {
  const archive = writeOdt(contentOf());
  assert.ok(archive);
  const mediaType = "application/vnd.oasis.opendocument.text";
  assert.equal(Buffer.from(archive.subarray(30, 38)).toString(), "mimetype");
  assert.equal(Buffer.from(archive.subarray(38, 38 + mediaType.length)).toString(), mediaType);
  assert.deepEqual(
    readZip(archive).map(({ path, isStored }) => [path, isStored]),
    ["mimetype", "META-INF/manifest.xml", "content.xml", "styles.xml", "meta.xml"].map((path) => [
      path,
      path === "mimetype",
    ]),
  );
  const files = filesOf(archive);
  const listed = [...(files.get("META-INF/manifest.xml") ?? "").matchAll(/full-path="([^"]+)"/g)];
  assert.deepEqual(
    listed.map(([, path]) => path),
    ["/", "content.xml", "styles.xml", "meta.xml"],
  );
  const styles = files.get("styles.xml") ?? "";
  for (const [, name] of (files.get("content.xml") ?? "").matchAll(/style-name="([^"]+)"/g)) {
    assert.ok(styles.includes(`style:name="${name}"`), name);
  }
});

test("documents have the language of the transcript, and its direction", () => {
  const rows: [code: string, docx: string, odt: string, rightToLeft: boolean][] = [
    ["is-IS", 'w:val="is-IS"', 'fo:language="is" fo:country="IS"', false],
    ["en", 'w:val="en"', 'fo:language="en" fo:country="none"', false],
    ["ar-EG", 'w:val="ar-EG"', 'fo:language="ar" fo:country="EG"', true],
    ["az-Arab-IR", 'w:val="az-Arab-IR"', 'style:rfc-language-tag="az-Arab-IR"', true],
    ["x-mine", 'w:val="und"', 'fo:language="und" fo:country="none"', false],
    ['"/>', 'w:val="und"', 'fo:language="und"', false],
  ];
  for (const [languageCode, inDocx, inOdt, rightToLeft] of rows) {
    const docx = filesOf(writeDocx(contentOf({}, { languageCode }))).get("word/styles.xml") ?? "";
    assert.ok(docx.includes(inDocx), languageCode);
    assert.equal(docx.includes("<w:bidi/>"), rightToLeft, languageCode);
    const odt = filesOf(writeOdt(contentOf({}, { languageCode }))).get("styles.xml") ?? "";
    assert.ok(odt.includes(inOdt), languageCode);
    assert.equal(odt.includes('writing-mode="rl-tb"'), rightToLeft, languageCode);
  }
});

test("equal content has equal bytes, and a document whose XML is too long is not written", () => {
  for (const write of [writeDocx, writeOdt]) {
    assert.deepEqual(write(contentOf()), write(contentOf()));
    assert.equal(write(contentOf({}, { charsMax: 500 })), undefined);
  }
});

test("a segment of more than 150 words is divided at the end of a sentence", () => {
  const texts = Array.from({ length: 400 }, (_, at) => (at % 10 === 9 ? "orð. " : "orð "));
  const options = { ...allOptions, times: false };
  const found = [...documentParagraphs([segment("a", 0, ...texts)], nameOf, options)];
  assert.deepEqual(
    found.map(({ turnOf, parts }) => [turnOf, parts[0]?.text.split(" ").length]),
    [
      ["Anna <Á>", 150],
      ["", 150],
      ["", 100],
    ],
  );
});
