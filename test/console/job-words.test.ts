// The console's texts for the service's English messages about jobs, in both languages, and its
// limits, which are the same as the service's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { checkDuration, explainEnd } from "../../src/audio/probe-media.ts";
import { audioUsedUp } from "../../src/auth/limits.ts";
import { metadataLimits } from "../../src/console/api/metadata-limits.ts";
import { jobFailure } from "../../src/console/text/job-failures.ts";
import { jobViolationText } from "../../src/console/text/job-violations.ts";
import { TranscriptMetadataSchema } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { internalFailure, poisonFailure } from "../../src/jobs/job-failure.ts";
import { contentMissing } from "../../src/jobs/content/stale-content.ts";
import { StatusError } from "../../src/media/media-answer.ts";
import { mediaTooLarge } from "../../src/media/media-store.ts";
import { addressRefused, checkMediaUrl, parseMediaAllowList } from "../../src/media/media-url.ts";
import { storageLimit } from "../../src/media/stored-bytes.ts";
import { explainTransfer } from "../../src/media/transfer-failure.ts";
import { ServiceError } from "../../src/std/service-error.ts";
import { checkTranscript } from "../../src/transcripts/check-transcript.ts";
import { transcriptLimits } from "../../src/transcripts/transcript-limits.ts";
import { callerFields } from "../../src/transcripts/merge.ts";

/** Node's error codes for connections. */
const transferCodes = [
  "EAI_AGAIN ENOTFOUND ECONNREFUSED ECONNRESET EHOSTUNREACH ETIMEDOUT UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_HEADERS_OVERFLOW CERT_HAS_EXPIRED ERR_TLS_CERT_ALTNAME_INVALID HPE_INVALID_CONSTANT",
].flatMap((line) => line.split(" "));

function failures(): unknown[] {
  const none = { received: 0, size: undefined };
  const codes = transferCodes.map((code) =>
    explainTransfer(Object.assign(new Error(code), { code }), none),
  );
  const statuses = [400, 401, 403, 404, 410, 429, 500, 503].map((status) =>
    explainTransfer(new StatusError(status, status === 503 ? 3_000 : undefined), none),
  );
  const ends = ["moov atom not found", "not on whitelist", "stream limit", ""].map((complaints) =>
    explainEnd(1, complaints),
  );
  return [
    ...codes,
    ...statuses,
    ...ends,
    explainEnd(137, ""),
    explainTransfer(new Error("broken"), { received: 10, size: 20 }),
    addressRefused(),
    mediaTooLarge(8_000_000_000),
    storageLimit(10),
    audioUsedUp("account", 3600, 1000),
    internalFailure,
    poisonFailure(3),
    contentMissing(),
    caught(() => checkDuration(2, 1)),
    caught(() => checkDuration(28_800_001, 28_800_000)),
  ];
}

function caught(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

test("each failure of a job has a sentence and a next step in both languages", () => {
  for (const failure of failures()) {
    assert.ok(failure instanceof ServiceError, String(failure));
    const { sentence, next } = jobFailure(failure.message);
    assert.notEqual(sentence.is, failure.message);
    assert.notEqual(sentence.en, failure.message);
    assert.ok(next.is !== "" && next.en !== "" && next.is !== next.en);
  }
});

test("jobFailure() names the type of a file that is not a recording", () => {
  const rows = [
    ["a web page (HTML)", "Þetta er ekki upptaka, heldur vefsíða."],
    ["a PDF document", "Þetta er ekki upptaka, heldur PDF-skjal."],
    ["an image", "Þetta er ekki upptaka, heldur mynd."],
  ];
  for (const [what, said] of rows) {
    assert.equal(jobFailure(`the media is ${what}, not a recording`).sentence.is, said);
  }
  const unknown = jobFailure("something new happened");
  assert.equal(unknown.sentence.is, "Þjónustan gat ekki lokið verkinu.");
  assert.equal(unknown.detail, "something new happened");
});

test("each violation of a job has a sentence in both languages", () => {
  const allow = parseMediaAllowList([]);
  const urls = ["ftp://a.is/", "https://a.is/a b", "https://", "https://a:b@a.is/"];
  const wrong = ["https://10.0.0.1/", "https://a.is:8443/", `https://a.is/${"a".repeat(9000)}`];
  const ofUrls = [...urls, ...wrong].map((url) => checkMediaUrl(url, allow) ?? assert.fail(url));
  const metadata = create(TranscriptMetadataSchema, {
    fileType: 1,
    languageCode: "is-IS",
    subject: "a".repeat(1001),
    description: "\0",
    keywords: Array.from({ length: 101 }, () => "b".repeat(101)),
  });
  const ofMetadata = [...checkTranscript(metadata, callerFields, [])];
  assert.equal(ofMetadata.length, 104);
  const all = [
    "is required",
    'is "is-IS", which has no installed model; installed: en-US',
    "uploads/x is not a finished upload of this account",
    ...ofUrls,
    ...ofMetadata.map(({ description }) => description),
  ];
  for (const description of all) {
    const said = jobViolationText({ field: "x", description });
    assert.equal(said.detail, undefined, description);
    assert.notEqual(said.is, said.en);
  }
  const said = jobViolationText({ field: "x", description: all[1] ?? "" });
  assert.equal(said.is, "Ekkert líkan er uppsett fyrir þetta tungumál. Uppsett: enska.");
});

test("the form has the same limits as the service", () => {
  const { subjectChars, descriptionChars, keywords, keywordChars, speakerNameChars } =
    transcriptLimits;
  const ofService = { subjectChars, descriptionChars, keywords, keywordChars, speakerNameChars };
  assert.deepEqual(metadataLimits, ofService);
});
