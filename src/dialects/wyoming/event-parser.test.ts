import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EventParser, type WyomingItem } from "./event-parser.ts";
import { writeEvent } from "./write-event.ts";

/** Parses chunks, and joins the pieces of payloads. */
function parse(chunks: readonly Buffer[]): { type: string; data: object; payload: string }[] {
  const parser = new EventParser();
  const items: WyomingItem[] = chunks.flatMap((chunk) => [...parser.push(chunk)]);
  const events: { type: string; data: object; payload: string }[] = [];
  for (const item of items) {
    const last = events.at(-1);
    if (item.kind === "event") events.push({ type: item.type, data: item.data, payload: "" });
    else if (last) last.payload += item.bytes.toString("latin1");
  }
  return events;
}

test("EventParser reads what writeEvent writes, in chunks of any size", () => {
  const event = fc.record({
    type: fc.string({ minLength: 1 }),
    data: fc.dictionary(
      fc.string().filter((name) => name !== "__proto__"),
      fc.oneof(fc.string({ unit: "grapheme" }), fc.integer()),
    ),
  });
  const whole = fc.tuple(fc.array(event), fc.integer({ min: 1, max: 50 }));
  fc.assert(
    fc.property(whole, ([events, size]) => {
      const bytes = Buffer.concat(events.map(({ type, data }) => writeEvent(type, data)));
      const count = Math.ceil(bytes.length / size);
      const chunks = Array.from({ length: count }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const plain = (each: object): unknown => JSON.parse(JSON.stringify(each));
      assert.deepEqual(
        parse(chunks).map(({ type, data }) => plain({ type, data })),
        events.map(plain),
      );
    }),
  );
});

test("EventParser reads each form of an event", () => {
  const rows: [bytes: string, type: string, data: object, payload?: string][] = [
    ['{"type":"describe"}\n', "describe", {}],
    ['\r\n{"type": "describe", "data": null, "data_length": null}\r\n', "describe", {}],
    ['{"type":"a","data":{"b":1,"c":2},"data_length":7}\n{"c":3}', "a", { b: 1, c: 3 }],
    ['{"type":"a","payload_length":4}\nb\nc\n', "a", {}, "b\nc\n"],
    ['{"type":"a","data_length":2,"payload_length":1}\n{}b', "a", {}, "b"],
    // The length counts bytes, not characters.
    ['{"type":"a","data_length":13}\n{"b":"ð€"}', "a", { b: "ð€" }],
  ];
  for (const [text, type, data, payload = ""] of rows) {
    const next = { type: "next", data: {}, payload: "" };
    const bytes = Buffer.from(`${text}{"type":"next"}\n`);
    for (const chunks of [[bytes], [...bytes].map((byte) => Buffer.of(byte))]) {
      assert.deepEqual(parse(chunks), [{ type, data, payload }, next]);
    }
  }
});
