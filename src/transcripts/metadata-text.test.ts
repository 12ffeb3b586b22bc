import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { equals, isMessage } from "@bufbuild/protobuf";
import fc from "fast-check";
import { sql } from "kysely";
import { anyStrings, arbitraryMessage } from "../../test/fixtures/arbitrary-message.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { runs } from "../../test/fixtures/property-runs.ts";
import type { Database } from "../database/database.ts";
import {
  TranscriptMetadata_FileType as FileType,
  TranscriptMetadataSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { checkTranscript } from "./check-transcript.ts";
import { callerFields } from "./merge.ts";
import { metadataOf, metadataText } from "./metadata-text.ts";

let database: Database;
before(async () => {
  database = await openTestDatabase();
});
after(async () => {
  await database[Symbol.asyncDispose]();
});

/** The service sets the texts of these fields. */
const ownTexts: ReadonlySet<string> = new Set(["originalFilename", "originalUri", "waveformUri"]);

const metadata = arbitraryMessage(TranscriptMetadataSchema, {
  depth: 2,
  strings: anyStrings,
  inAny: TranscriptMetadataSchema,
  takes: (field) => !ownTexts.has(field.localName),
}).map((message) => {
  assert.ok(isMessage(message, TranscriptMetadataSchema));
  return Object.assign(message, { fileType: FileType.AUDIO, languageCode: "is-IS" });
});

test("accepted metadata is read from the database as it was written", async () => {
  await fc.assert(
    fc.asyncProperty(metadata, async (written) => {
      fc.pre([...checkTranscript(written, callerFields, [])].length === 0);
      const { rows } = await sql<{ text: string }>`
        select ${metadataText(written)}::jsonb::text as text
      `.execute(database.db);
      const read = metadataOf(rows[0]?.text ?? "");
      assert.ok(equals(TranscriptMetadataSchema, read, written), metadataText(written));
    }),
    { numRuns: runs(1_000) },
  );
});
