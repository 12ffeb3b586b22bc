// The service sets every field of its responses somewhere.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { Speech as GoogleSpeech } from "../../src/gen/google/cloud/speech/v1/speech_pb.ts";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { Operator } from "../../src/gen/hlust/operator/v1/operator_pb.ts";
import {
  Speech,
  StreamingRecognitionResultSchema,
  StreamingRecognizeResponseSchema,
  WordInfoSchema,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Vocabulary } from "../../src/gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Webhooks } from "../../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import { Speech as TiroSpeech } from "../../src/gen/tiro/speech/v1alpha/speech_pb.ts";

/** Returns the messages of our packages in the responses of methods, including nested messages. */
function answered(): Set<DescMessage> {
  const found = new Set<DescMessage>();
  const add = (message: DescMessage): void => {
    if (found.has(message) || !message.typeName.startsWith("hlust.")) return;
    found.add(message);
    for (const field of message.fields) {
      const below = messageOf(field);
      if (below) add(below);
    }
  };
  const speech = [Speech, GoogleSpeech, TiroSpeech, Vocabulary];
  for (const service of [Transcripts, ...speech, Accounts, Webhooks, Operator]) {
    for (const method of service.methods) add(method.output);
  }
  return found;
}

function messageOf(field: DescField): DescMessage | undefined {
  return field.message ?? undefined;
}

test("every field of a response is named in the code that creates responses", () => {
  const root = join(import.meta.dirname, "../../src");
  const folders =
    "{accounts,alignment,auth,engines,jobs,operator,speech,transcripts,vocabulary,webhooks}";
  const files = globSync(`${root}/${folders}/**/*.ts`, { exclude: ["**/*.test.ts"] });
  assert.ok(files.length > 100);
  const words = new Set(files.flatMap((file) => readFileSync(file, "utf8").match(/\w+/g) ?? []));
  const unset = [...answered()].flatMap(({ typeName, fields }) =>
    fields
      .filter(({ localName }) => !words.has(localName))
      .map(({ name }) => `${typeName}.${name}`),
  );
  assert.deepEqual(unset, []);
});

test("fields that no response ever set are now reserved or set", () => {
  const rows: [message: DescMessage, field: string, isThere: boolean][] = [
    // test/spec/models.test.ts tests this field.
    [WordInfoSchema, "speaker_tag", true],
    // A stream that fails ends with an error of its protocol.
    [StreamingRecognizeResponseSchema, "error", false],
    // test/spec/google-clients.test.ts tests this field.
    [StreamingRecognitionResultSchema, "stability", true],
    // src/speech/streaming-effort.test.ts tests this field.
    [StreamingRecognitionResultSchema, "effort", true],
  ];
  for (const [message, field, isThere] of rows) {
    const found = message.fields.some(({ name }) => name === field);
    assert.equal(found, isThere, `${message.typeName}.${field}`);
    if (isThere) continue;
    const isReserved = message.proto.reservedName.includes(field);
    assert.ok(isReserved, `${message.typeName}.${field} could come back as something else`);
  }
});
