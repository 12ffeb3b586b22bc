import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { eventStream, jsonLines } from "./stream-envelope.ts";

test("jsonLines writes one line of JSON per message, whatever the message contains", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      const body = values.map((value) => jsonLines.result(JSON.stringify(value))).join("");
      const lines = body.split("\n");
      assert.equal(lines.pop(), "");
      assert.deepEqual(
        lines.map((line) => JSON.stringify(JSON.parse(line))),
        values.map((value) => JSON.stringify({ result: value })),
      );
    }),
  );
});

test("eventStream writes one event per message, whatever the message contains", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      const body = values.map((value) => eventStream.result(JSON.stringify(value))).join("");
      assert.deepEqual(
        eventsOf(body),
        values.map((value) => ({ type: "message", data: `{"result":${JSON.stringify(value)}}` })),
      );
    }),
  );
});

test("eventStream marks the end, a permanent failure and a temporary failure", () => {
  const status = '{"code":13,"message":"internal error","details":[]}';
  const data = `{"error":${status}}`;
  const rows: [body: string, events: readonly Event[]][] = [
    [eventStream.end, [{ type: "end", id: "end", data: "{}" }]],
    [eventStream.error(status, { canRepeat: false }), [{ type: "message", id: "end", data }]],
    [eventStream.error(status, { canRepeat: true }), [{ type: "message", data }]],
    [eventStream.alive, []],
  ];
  for (const [body, events] of rows) assert.deepEqual(eventsOf(body), events, body);
  assert.equal(jsonLines.error(status, { canRepeat: true }), `${data}\n`);
});

interface Event {
  readonly type: string;
  readonly id?: string;
  readonly data: string;
}

/** Parses events as a browser does (HTML, section 9.2.6). The last event must be complete. */
function eventsOf(body: string): Event[] {
  const blocks = body.split("\n\n");
  assert.equal(blocks.pop(), "");
  return blocks.flatMap((block) => {
    const fields = block.split(/\r\n|\r|\n/).flatMap((line) => {
      const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      return name === "" ? [] : [{ name, value }];
    });
    const valuesOf = (wanted: string) =>
      fields.filter(({ name }) => name === wanted).map(({ value }) => value);
    const data = valuesOf("data");
    if (data.length === 0) return [];
    const [type = "message"] = valuesOf("event");
    const [id] = valuesOf("id");
    return [{ type, ...(id !== undefined && { id }), data: data.join("\n") }];
  });
}
