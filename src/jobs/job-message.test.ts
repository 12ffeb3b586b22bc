import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toJson } from "@bufbuild/protobuf";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";
import { TranscriptMetadataSchema } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { failureDetails, failureStatus } from "./job-failure.ts";
import { withResult } from "../../test/fixtures/job-result.ts";
import { jobMessage } from "./job-message.ts";

/** Returns the error that callers see for a stored error. */
function shownError(error: unknown): unknown {
  const at = new Date(0);
  const message = jobMessage({
    id: "1",
    accountId: "2",
    state: "ERROR",
    progressPercent: 0,
    metadata: create(TranscriptMetadataSchema),
    durationMs: null,
    uploadId: null,
    transcriptId: null,
    contentTranscriptId: null,
    newVersionOf: null,
    model: null,
    error: JSON.stringify(error),
    startedAt: at,
    updatedAt: at,
  });
  const { error: shown } = withResult(message);
  assert.ok(shown);
  return toJson(StatusSchema, shown, { registry: failureDetails });
}

test("jobMessage() drops unknown parts of a stored error, which a later version may have written", () => {
  const known = failureStatus(
    new ServiceError("invalid_argument", "no", { reason: "MEDIA_BROKEN" }),
  );
  const [info] = known.details ?? [];
  const later = [
    { "@type": "type.googleapis.com/google.rpc.Help", links: [{ url: "https://x" }] },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" },
    { "@type": "nothing" },
    { reason: "NO_TYPE" },
    "text",
    null,
  ];
  const rows: [stored: unknown, shown: unknown][] = [
    [known, known],
    [{ ...known, details: [...later, info, ...later] }, known],
    [{ ...known, details: [{ ...info, later: { x: 1 } }], later: true }, known],
    [
      { ...known, details: [{ ...info, reason: { later: "an object" } }] },
      { code: 3, message: "no" },
    ],
    [{ ...known, code: "later", message: 7, details: [] }, { code: 2 }],
    // Written by a version before ErrorInfo was introduced.
    [
      { code: 3, message: "no" },
      { code: 3, message: "no" },
    ],
    [
      { code: 3, message: "no", details: "later" },
      { code: 3, message: "no" },
    ],
  ];
  for (const [stored, shown] of rows) {
    assert.deepEqual(shownError(stored), shown, JSON.stringify(stored));
  }
});
