import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear } from "../../test/fixtures/growth.ts";
import { acceptStream } from "./accept-stream.ts";
import { eventStream, jsonLines } from "./stream-envelope.ts";

test("acceptStream() chooses server-sent events or JSON lines by the Accept header", () => {
  const rows: [accept: string | undefined, wanted: "events" | "lines"][] = [
    [undefined, "lines"],
    ["", "lines"],
    ["*/*", "lines"],
    ["application/json", "lines"],
    ["application/x-ndjson", "lines"],
    ["text/event-stream", "events"],
    ["Text/Event-Stream", "events"],
    ["text/event-stream; charset=utf-8", "events"],
    ["text/*", "events"],
    // With equal weights, a client that names only events gets events; any other client gets lines.
    ["text/event-stream, */*", "events"],
    ["*/*, text/event-stream", "events"],
    ["application/json, text/event-stream", "lines"],
    ["text/event-stream, application/json", "lines"],
    ["text/*, application/*", "lines"],
    ["text/event-stream, application/*", "events"],
    // The higher weight decides.
    ["text/event-stream;q=0.9, application/json;q=0.8", "events"],
    ["text/event-stream;q=0.8, application/json;q=0.9", "lines"],
    ["text/event-stream;q=0.8, */*;q=0.9", "lines"],
    ["application/json;q=0.5, text/event-stream ; Q=0.501", "events"],
    ["text/event-stream;q=0.1;ext=1, */*;q=0.01", "events"],
    // The most specific range decides, whatever its position.
    ["text/event-stream;q=0, */*", "lines"],
    ["*/*, text/event-stream;q=0.1", "lines"],
    ["application/x-ndjson;q=0, */*", "events"],
    ["text/*;q=0.1, text/event-stream", "events"],
    ["text/event-stream;q=0.1, text/event-stream;q=1, */*;q=0.5", "events"],
    // A client that accepts neither form gets lines, not an error.
    ["text/html", "lines"],
    ["text/event-stream;q=0", "lines"],
    ["*/*;q=0", "lines"],
    // This is the Accept header of a browser that opens a page.
    ["text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "lines"],
    // These weights are invalid.
    ["text/event-stream;q=2, application/json;q=0.1", "lines"],
    ["text/event-stream;q=high, application/json;q=0.1", "lines"],
    // A comma in quotes is not a separator.
    ['text/event-stream;title="a,application/json", */*;q=0.1', "events"],
    ['text/event-stream;title="a\\",application/json', "events"],
    [",,text/event-stream,,", "events"],
  ];
  for (const [accept, wanted] of rows) {
    assert.equal(acceptStream(accept), wanted === "events" ? eventStream : jsonLines, accept);
  }
});

test("acceptStream() accepts any text, in linear time", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (accept) => {
      const { contentType } = acceptStream(`*/*;q=0,${accept}`);
      assert.ok(contentType !== "");
    }),
  );
  for (const part of ['"', '"\\', ",", ";", ";q=0.", "*/*,", 'a"', '"*/*'])
    assertLinear(part, 8_000, {
      // Without the first range, the rest would not be parsed.
      input: (count) => `*/*,${part.repeat(count)}`,
      run: acceptStream,
      baseline: (text) => text.split(part),
    });
});
