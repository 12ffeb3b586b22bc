import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readLines } from "./read-lines.ts";

function bodyOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Uint8Array.from(chunk));
      controller.close();
    },
  });
}

test("readLines() finds the same lines however the bytes are split", async () => {
  const line = fc
    .string({ unit: "binary" })
    .filter((text) => !text.includes("\n") && text.trim() !== "");
  const sizes = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(line), sizes, fc.boolean(), async (lines, sizes, ends) => {
      // A byte order mark at the beginning is not part of the text.
      const text = ["x", "", ...lines].join("\n") + (ends ? "\n" : "");
      const bytes = new TextEncoder().encode(text);
      const chunks: Uint8Array[] = [];
      for (let at = 0, index = 0; at < bytes.length; index++) {
        const size = sizes[index % sizes.length] || (index % sizes.length === 0 ? 1 : 0);
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      assert.deepEqual(await Array.fromAsync(readLines(bodyOf(chunks))), ["x", ...lines]);
    }),
    { numRuns: 300 },
  );
});

test("readLines() yields each line as soon as it is complete, and cancels the body when the caller leaves the loop", async () => {
  let canceled = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode("a\nb"));
    },
    cancel: () => {
      canceled = true;
    },
  });
  for await (const line of readLines(body)) {
    assert.equal(line, "a");
    break;
  }
  assert.ok(canceled);
});

test("readLines() throws if bytes are not UTF-8", async () => {
  await assert.rejects(
    Array.fromAsync(readLines(bodyOf([Uint8Array.of(0x61, 0xff, 0x0a)]))),
    TypeError,
  );
});
