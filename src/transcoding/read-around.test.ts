import assert from "node:assert/strict";
import { test } from "node:test";
import { toJson, type Message } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  Transcripts,
  UpdateTranscriptRequestSchema,
  type UpdateTranscriptRequest,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { unreadFieldOf } from "../std/unread-field.ts";
import { createTranscoder } from "./transcoder.ts";

const transcoder = createTranscoder([Transcripts]);
const routed = transcoder.route("PATCH", "/v1alpha1/transcripts/1");
/** Space that makes a body long: what is in it stays the same. */
const long = " ".repeat(64 << 10);

const bind = (body: string): Message => transcoder.bind(routed, Buffer.from(body));

function isUpdate(message: Message): message is UpdateTranscriptRequest {
  return message.$typeName === UpdateTranscriptRequestSchema.typeName;
}

/** The message, and whether its segments were left unread; or the refusal. */
function bound(body: string): { json?: unknown; isUnread?: boolean; refused?: string } {
  try {
    const message = bind(body);
    assert.ok(isUpdate(message));
    const unread = message.transcript && unreadFieldOf(message.transcript);
    const json = toJson(UpdateTranscriptRequestSchema, message);
    return { json, isUnread: unread !== undefined };
  } catch (error) {
    if (error instanceof ServiceError) return { refused: error.message };
    throw error;
  }
}

const segment = '{"startTime":"1s","endTime":"2s","words":[{"word":"x ]}"}]}';

test("a long list is left unread, and reads as it would have", () => {
  const rows: [body: string, isUnread: boolean][] = [
    [`{"segments":[${segment}]}`, true],
    [`{"metadata":{"subject":"é"},"segments":[${segment},${segment}]}`, true],
    [`{"segments":[${segment}],"metadata":{"keywords":["a"]}}`, true],
    [`{"segments":[],"uri":"segments"}`, true],
    [`{"segments":[${segment}],"segments":[]}`, false],
    [String.raw`{"\u0073egments":[${segment}]}`, false],
    [`{"segments":null,"metadata":{"subject":"a"}}`, false],
    [`\ufeff{"segments":[${segment}]}`, false],
    [`{"metadata":{"subject":"a"}}`, false],
  ];
  for (const [body, isUnread] of rows) {
    const [{ json }, other] = [bound(body), bound(body + long)];
    assert.deepEqual(other, { json, isUnread }, body);
  }
});

test("what is wrong around a long list is said as in a short body", () => {
  const bodies = [
    `{"segments":[${segment}],}`,
    `{"segments":[${segment}]`,
    `{"segments":[${segment}]]}`,
    `{"segments":[${segment}],"x":1}`,
    `{"segments":[${segment}],"metadata":{"keywords":1,"languageCode":{}}}`,
    `{"segments":{}}`,
    `[{"segments":[]}]`,
    `{"segments":[]} x`,
  ];
  for (const body of bodies) {
    const short = bound(body);
    assert.ok("refused" in short, body);
    assert.deepEqual(withoutColumn(bound(long + body)), withoutColumn(short), body);
  }
  const message = `{"metadata":{"x":1},"segments":[${segment}]${long}}`;
  assert.deepEqual(bound(message), { refused: "metadata.x: TranscriptMetadata has no such field" });
});

/** The space in front counts. */
function withoutColumn({ refused = "" }: ReturnType<typeof bound>): string {
  return refused.replace(/column \d+/, "column");
}

test("any long body binds or is refused like the same body read whole", () => {
  const piece = fc.constantFrom(
    '"segments":',
    `[${segment}]`,
    "[]",
    "null",
    ",",
    "{",
    "}",
    "]",
    '"uri":"u"',
    '"metadata":{}',
    "1",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = `{${pieces.join("")}}`;
      const [short, other] = [bound(text), bound(text + long)];
      if ("refused" in short) assert.ok("refused" in other, text);
      else assert.deepEqual(other.json, short.json, text);
    }),
    { numRuns: 400 },
  );
});
