import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseFilter } from "../../transcripts/filter.ts";
import { everything, filterOf, readSearch, searchQuery } from "./search.ts";

test("readSearch() reads the output of searchQuery()", () => {
  const rows: [query: string, filter: string][] = [
    ["", ""],
    ["?subject=%C3%9Eing", 'metadata.subject CONTAINS "Þing"'],
    ["?keyword=%C3%96r%C3%A6fi", 'metadata.keywords CONTAINS ["Öræfi"]'],
    [
      "?keyword=a&keyword=b",
      'metadata.keywords CONTAINS ["a"] AND metadata.keywords CONTAINS ["b"]',
    ],
  ];
  for (const [query, filter] of rows) {
    assert.equal(searchQuery(readSearch(query)), query);
    assert.equal(filterOf(readSearch(query)), filter);
  }
});

test("filters and the order are kept in the address, and bad values are left out", () => {
  const query =
    "?keyword=a&language=is-IS&speaker=J%C3%B3n+%22J%22&from=2026-11-01&to=2026-11-02&longer=5&shorter=60&sort=longest";
  const search = readSearch(query);
  assert.equal(searchQuery(search), query);
  const parsed = parseFilter(filterOf(search), { ofTranscripts: true });
  assert.ok(Array.isArray(parsed));
  assert.deepEqual(parsed, [
    { by: "keywords", keywords: ["a"] },
    { by: "language", language: "is-IS" },
    { by: "speakers", names: ['Jón "J"'] },
    { by: "time", is: ">=", time: new Date(2026, 10, 1) },
    { by: "time", is: "<", time: new Date(2026, 10, 3) },
    { by: "duration", is: ">=", ms: 300_000 },
    { by: "duration", is: "<", ms: 3_600_000 },
  ]);
  const bad = "?language=%22&from=2026-99&to=x&longer=-1&shorter=1e9&sort=size";
  assert.deepEqual(readSearch(bad), everything);
  const keywords = Array.from({ length: 12 }, (_, at) => `keyword=${at}`).join("&");
  const many = filterOf(readSearch(`?${keywords}&language=is-IS&from=2026-11-01`));
  assert.equal(many.split(" AND ").length, 10);
});

test("readSearch() drops characters and keywords that no transcript can match", () => {
  const none = [everything, everything, everything, { ...everything, subject: "ab" }];
  const queries = ["?subject=", "?keyword=&keyword=%20", "?other=1", "?subject=%20a%00b%20"];
  assert.deepEqual(queries.map(readSearch), none);
  assert.deepEqual(readSearch("?keyword=a&subject=b&keyword=a"), {
    ...everything,
    keywords: ["a"],
  });
  assert.equal(readSearch(`?subject=${"þ".repeat(5000)}`).subject.length, 1000);
});

test("the service's filter parser restores any text that filterOf() writes", () => {
  const texts = fc.string({ unit: "binary", maxLength: 60 });
  fc.assert(
    fc.property(texts, fc.array(texts, { maxLength: 14 }), (subject, keywords) => {
      for (const search of [
        { ...everything, subject },
        { ...everything, keywords },
      ]) {
        const read = readSearch(searchQuery(search));
        const filter = filterOf(read);
        if (filter === "") assert.deepEqual(read, everything);
        else {
          const { keywords: asked } = read;
          const wanted =
            asked.length > 0
              ? asked.map((keyword) => ({ by: "keywords", keywords: [keyword] }))
              : [{ by: "subject", text: read.subject }];
          assert.deepEqual(parseFilter(filter), wanted);
        }
      }
    }),
  );
});
