import assert from "node:assert/strict";
import { test } from "node:test";
import { createRegistry, isMessage, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { arbitraryMessage } from "../../test/fixtures/arbitrary-message.ts";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import {
  SpeakerInfoSchema,
  TranscriptJobSchema,
  TranscriptMetadataSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { failureStatus } from "./job-failure.ts";
import { jobMessage } from "./job-message.ts";
import { listedJob } from "./listed-job.ts";
import { jobOf, type JobRow } from "./stored-job.ts";

const registry = createRegistry(file_google_rpc_error_details);
const metadatas = arbitraryMessage(TranscriptMetadataSchema, {
  depth: 2,
  strings: fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", '"', "þ")),
  inAny: SpeakerInfoSchema,
}).filter((message): message is TranscriptMetadata => isMessage(message, TranscriptMetadataSchema));
const ids = fc.option(fc.constant(newId()));
const dates = fc.oneof(
  fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }),
  fc.constant(new Date(1_000)),
);
const failed = new ServiceError("invalid_argument", "no", { reason: "MEDIA_BROKEN" });
const rows = fc
  .record({
    id: fc.constant(newId()),
    state: fc.constantFrom("WAITING_FOR_CONTENT", "PROCESSING", "SUCCESS", "ERROR", "CANCELLED"),
    progress_percent: fc.nat(100),
    metadata: metadatas.map((metadata) => toJsonString(TranscriptMetadataSchema, metadata)),
    duration_ms: fc.option(fc.nat()),
    upload_id: ids,
    transcript_id: ids,
    new_version_of: ids,
    model: fc.option(fc.constantFrom("is-IS-starter", "Líkan 2")),
    used_model: fc.option(fc.constant("pocketsphinx-en-US")),
    content_transcript_id: ids,
    error: fc.constantFrom(
      null,
      JSON.stringify(failureStatus(failed)),
      '{"code": 3, "message": "no", "later": 1}',
    ),
    started_at: dates,
    updated_at: dates,
  } as const)
  .map((row): JobRow => ({ ...row, account_id: row.id }));

test("listedJob() writes the same JSON as the library", () => {
  fc.assert(
    fc.property(rows, (row) => {
      const general = toJsonString(TranscriptJobSchema, jobMessage(jobOf(row)), { registry });
      const written = listedJob(row, registry);
      assert.deepEqual(JSON.parse(written), JSON.parse(general));
      assert.equal(written.length, general.length);
    }),
    { numRuns: 1_000 },
  );
});

test("listedJob() leaves out fields of a later version, and damaged metadata", () => {
  const row: JobRow = {
    id: newId(),
    account_id: newId(),
    state: "SUCCESS",
    progress_percent: 100,
    metadata: '{"later": 1, "subject": "Fundur", "speakers": {"1": {"voice": "low"}}}',
    duration_ms: null,
    upload_id: null,
    transcript_id: newId(),
    content_transcript_id: null,
    new_version_of: null,
    model: null,
    used_model: null,
    error: null,
    started_at: new Date(0),
    updated_at: new Date(0),
  };
  const modelOf = (changes: Partial<typeof row>) =>
    JSON.parse(listedJob({ ...row, ...changes }, registry)).model;
  assert.equal(modelOf({ state: "PROCESSING", model: "asked" }), "asked");
  assert.equal(modelOf({ model: "asked" }), undefined, "a node that ignores it has ended the job");
  assert.equal(modelOf({ model: "asked", used_model: "used" }), "used");
  const metadataIn = (metadata: string) =>
    JSON.parse(listedJob({ ...row, metadata }, registry)).transcriptMetadata;
  assert.deepEqual(metadataIn(row.metadata), { subject: "Fundur", speakers: { 1: {} } });
  for (const damaged of ["{", "7", "null", "[]"]) assert.deepEqual(metadataIn(damaged), {});
});
