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

test("readSearch() drops characters and keywords that no transcript can match", () => {
  const none = [everything, everything, everything, { subject: "ab", keywords: [] }];
  const queries = ["?subject=", "?keyword=&keyword=%20", "?other=1", "?subject=%20a%00b%20"];
  assert.deepEqual(queries.map(readSearch), none);
  assert.deepEqual(readSearch("?keyword=a&subject=b&keyword=a"), { subject: "", keywords: ["a"] });
  assert.equal(readSearch(`?subject=${"þ".repeat(5000)}`).subject.length, 1000);
});

test("the service's filter parser restores any text that filterOf() writes", () => {
  const texts = fc.string({ unit: "binary", maxLength: 60 });
  fc.assert(
    fc.property(texts, fc.array(texts, { maxLength: 14 }), (subject, keywords) => {
      for (const search of [
        { subject, keywords: [] },
        { subject: "", keywords },
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
