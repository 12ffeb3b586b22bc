// The limits in the contract equal the limits in the code: each number is written in both, and the
// two are compared here.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { retentionDaysMax } from "../../src/accounts/account-methods.ts";
import { monthPattern } from "../../src/accounts/usage-methods.ts";
import { keyLimitMax } from "../../src/accounts/key-limits.ts";
import { displayNameLengthMax, displayNamePattern } from "../../src/std/display-name.ts";
import { scopes } from "../../src/auth/caller.ts";
import { textLengthMax } from "../../src/auth/client-key.ts";
import { emailLengthMax, emailPattern } from "../../src/auth/email.ts";
import { keyLimitNames } from "../../src/auth/limits.ts";
import { ListOperationsRequestSchema } from "../../src/gen/google/longrunning/operations_pb.ts";
import {
  AccountSchema,
  ApiKeySchema,
  ClientKeySchema,
  CreateApiKeyRequestSchema,
  CreateClientKeyRequestSchema,
  CreateMemberRequestSchema,
  KeyLimitsSchema,
  ListAuditEventsRequestSchema,
  ListKeyUsageRequestSchema,
  ListUsageDaysRequestSchema,
  MemberSchema,
} from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import {
  headers,
  limits,
  LimitsSchema,
  type Limits,
} from "../../src/gen/hlust/api/annotations_pb.ts";
import {
  RecognitionConfigSchema,
  SpeakerDiarizationConfigSchema,
  SpeechContextSchema,
  SpeechRecognitionAlternativeSchema,
  StreamingRecognitionConfig_EndpointingSchema,
  StreamingRecognitionResultSchema,
  WordInfoSchema,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import {
  DiffTranscriptVersionsRequestSchema,
  ImportTranscriptRequestSchema,
  ListTranscriptJobsRequestSchema,
  ListTranscriptsRequestSchema,
  WatchTranscriptJobsRequestSchema,
  WatchTranscriptsRequestSchema,
  ListTranscriptVersionsRequestSchema,
  ModifySegmentsRequestSchema,
  RestoreTranscriptRequestSchema,
  SegmentsChangeSchema,
  SegmentSchema,
  SignTranscriptExportRequestSchema,
  InitUploadRequestSchema,
  SpeakerInfoSchema,
  SubmitTranscriptJobRequestSchema,
  TranscriptJobSchema,
  TranscriptMetadataSchema,
  Transcripts,
  TranscriptSchema,
  UpdateTranscriptRequestSchema,
  WordSchema,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import {
  ImportVocabularyPhrasesRequestSchema,
  ListVocabularyPhrasesRequestSchema,
  VocabularyPhrase_StateSchema,
  VocabularyPhraseSchema,
} from "../../src/gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import {
  AlignmentJobSchema,
  ListAlignmentJobsRequestSchema,
  WatchAlignmentJobsRequestSchema,
} from "../../src/gen/hlust/transcripts/v1alpha1/alignment_pb.ts";
import { ReportPresenceRequestSchema } from "../../src/gen/hlust/transcripts/v1alpha1/presence_pb.ts";
import { ShareSchema } from "../../src/gen/hlust/transcripts/v1alpha1/share_pb.ts";
import {
  ModifyReviewRequestSchema,
  ReviewRangeSchema,
} from "../../src/gen/hlust/transcripts/v1alpha1/review_pb.ts";
import {
  CreateWebhookRequestSchema,
  ListWebhookDeliveriesRequestSchema,
  WebhookSchema,
} from "../../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import {
  hintBoostMax,
  hintCharsMax,
  hintPhrasesMax,
} from "../../src/engines/protocol/check-hints.ts";
import { speakersMaxMax } from "../../src/engines/protocol/check-speakers.ts";
import { keyCharsMax } from "../../src/jobs/submit-job.ts";
import { mediaUrlPattern, urlCharsMax } from "../../src/media/media-url.ts";
import {
  alternativesMaxMax,
  encodings,
  sampleRateHertzMax,
} from "../../src/speech/check-config.ts";
import { silenceMsBounds, utteranceMsBounds } from "../../src/speech/streaming-recognize.ts";
import { writtenFormats } from "../../src/transcripts/export-formats.ts";
import { languageCodePattern } from "../../src/std/language-code.ts";
import { transcriptLimits as most } from "../../src/transcripts/transcript-limits.ts";
import { sessionCharsMax, sessionPattern } from "../../src/transcripts/presence-methods.ts";
import { reviewMax } from "../../src/transcripts/review-methods.ts";
import { shareLimits } from "../../src/transcripts/share-methods.ts";
import { fileNameCharsMax } from "../../src/transcripts/upload-methods.ts";
import { transcriptsMax } from "../../src/jobs/watch-account.ts";
import { filterCharsMax } from "../../src/transcripts/filter.ts";
import { tokenCharsMax } from "../../src/std/page-token.ts";
import { importFormats } from "../../src/transcripts/import-formats.ts";
import { vocabularyLimits } from "../../src/vocabulary/check-phrase.ts";
import { eventTypes } from "../../src/webhooks/webhook-events.ts";
import { contract } from "../../src/served-services.ts";
import { accountLimits } from "./account-limits.ts";
import { document } from "./described-service.ts";
import { exportLimits, severalLimits } from "./handling-limits.ts";
import { operatorLimits, type LimitsInit } from "./operator-limits.ts";

/** The limits in the code by the full name of the field. */
const kept = expectedLimits();

function expectedLimits(): Map<string, LimitsInit> {
  const metadata = TranscriptMetadataSchema.typeName;
  const segment = SegmentSchema.typeName;
  const word = WordSchema.typeName;
  const time = { secondsMin: 0, secondsMax: most.hours * 3600 };
  const share = { min: 0, max: 1 };
  const displayName = { charsMax: displayNameLengthMax, pattern: displayNamePattern.source };
  const page = { pageSize: { min: 0 }, pageToken: { charsMax: tokenCharsMax } };
  const endpointing = StreamingRecognitionConfig_EndpointingSchema.typeName;
  const lists = [
    ListAuditEventsRequestSchema,
    ListUsageDaysRequestSchema,
    ListAlignmentJobsRequestSchema,
    ListTranscriptJobsRequestSchema,
    ListTranscriptsRequestSchema,
    WatchTranscriptsRequestSchema,
    ListTranscriptVersionsRequestSchema,
    ListVocabularyPhrasesRequestSchema,
    ListWebhookDeliveriesRequestSchema,
    ListOperationsRequestSchema,
  ];
  const ofKeys = keyLimitNames.map((name): [string, LimitsInit] => [
    `${KeyLimitsSchema.typeName}.${KeyLimitsSchema.field[name].name}`,
    { min: 0, max: keyLimitMax[name] },
  ]);
  const phrase = VocabularyPhraseSchema.typeName;
  const ofVocabulary = vocabularyLimits;
  const soundsLike = { itemsMax: ofVocabulary.soundsLike, charsMax: ofVocabulary.phraseChars };
  const creations = [CreateApiKeyRequestSchema, CreateClientKeyRequestSchema];
  const webhooks = [WebhookSchema, CreateWebhookRequestSchema];
  const named = [AccountSchema, ApiKeySchema, ClientKeySchema, ...creations, ...webhooks];
  return new Map<string, LimitsInit>([
    ...ofKeys,
    ...operatorLimits(page),
    ...accountLimits(displayName),
    ...severalLimits(page),
    ...exportLimits(),
    ...[MemberSchema, CreateMemberRequestSchema].flatMap(({ typeName }): [string, LimitsInit][] => [
      [`${typeName}.email`, { charsMax: emailLengthMax, pattern: emailPattern.source }],
      [`${typeName}.display_name`, displayName],
    ]),
    [`${ListKeyUsageRequestSchema.typeName}.month`, { pattern: monthPattern.source }],
    ["hlust.accounts.v1.ListMemberUsageRequest.month", { pattern: monthPattern.source }],
    [
      `${metadata}.language_code`,
      { charsMax: most.languageCodeChars, pattern: languageCodePattern.source },
    ],
    [`${metadata}.subject`, { charsMax: most.subjectChars }],
    [`${metadata}.description`, { charsMax: most.descriptionChars }],
    [`${metadata}.keywords`, { itemsMax: most.keywords, charsMax: most.keywordChars }],
    [
      `${metadata}.additional_metadata`,
      {
        itemsMax: most.additionalMetadata,
        keyCharsMax: most.additionalMetadataKeyChars,
        charsMax: most.additionalMetadataValueChars,
      },
    ],
    [`${metadata}.speakers`, { itemsMax: most.speakers, keyCharsMax: most.speakerIdChars }],
    [`${InitUploadRequestSchema.typeName}.filename`, { charsMax: fileNameCharsMax }],
    [`${SpeakerInfoSchema.typeName}.full_name`, { charsMax: most.speakerNameChars }],
    ...[
      TranscriptSchema,
      ModifySegmentsRequestSchema,
      SubmitTranscriptJobRequestSchema,
      ImportTranscriptRequestSchema,
    ].map(({ typeName }): [string, LimitsInit] => [
      `${typeName}.metadata`,
      { bytesMax: most.metadataBytes },
    ]),
    ...[
      UpdateTranscriptRequestSchema,
      ModifySegmentsRequestSchema,
      RestoreTranscriptRequestSchema,
    ].map(({ typeName }): [string, LimitsInit] => [
      `${typeName}.note`,
      { charsMax: most.noteChars },
    ]),
    [`${ModifySegmentsRequestSchema.typeName}.changes`, { itemsMax: most.changes }],
    [`${SegmentsChangeSchema.typeName}.start_index`, { min: 0 }],
    [`${SegmentsChangeSchema.typeName}.end_index`, { min: 0 }],
    [`${SegmentsChangeSchema.typeName}.segments`, { itemsMax: most.segments }],
    [`${TranscriptSchema.typeName}.segments`, { itemsMax: most.segments }],
    [`${segment}.start_time`, time],
    [`${segment}.end_time`, time],
    [`${segment}.speaker_id`, { charsMax: most.speakerIdChars }],
    [
      `${ReportPresenceRequestSchema.typeName}.session`,
      { charsMax: sessionCharsMax, pattern: sessionPattern.source },
    ],
    [`${ReportPresenceRequestSchema.typeName}.position`, time],
    [`${ShareSchema.typeName}.note`, { charsMax: shareLimits.noteChars }],
    [`${ReviewRangeSchema.typeName}.start_time`, time],
    [`${ReviewRangeSchema.typeName}.end_time`, time],
    [`${ModifyReviewRequestSchema.typeName}.add`, { itemsMax: reviewMax.changes }],
    [`${ModifyReviewRequestSchema.typeName}.remove`, { itemsMax: reviewMax.changes }],
    [`${word}.start_time`, time],
    [`${word}.end_time`, time],
    [`${word}.word`, { charsMax: most.wordChars }],
    [`${word}.spoken`, { charsMax: most.wordChars }],
    [`${TranscriptJobSchema.typeName}.progress_percent`, { min: 0, max: 100 }],
    [`${AlignmentJobSchema.typeName}.progress_percent`, { min: 0, max: 100 }],
    [`${ListAlignmentJobsRequestSchema.typeName}.filter`, { charsMax: filterCharsMax }],
    [`${WatchAlignmentJobsRequestSchema.typeName}.filter`, { charsMax: filterCharsMax }],
    [`${SubmitTranscriptJobRequestSchema.typeName}.uri`, { charsMax: urlCharsMax }],
    [`${ListTranscriptsRequestSchema.typeName}.filter`, { charsMax: filterCharsMax }],
    [`${WatchTranscriptJobsRequestSchema.typeName}.filter`, { charsMax: filterCharsMax }],
    [`${WatchTranscriptJobsRequestSchema.typeName}.transcripts`, { itemsMax: transcriptsMax }],
    [`${WatchTranscriptsRequestSchema.typeName}.filter`, { charsMax: filterCharsMax }],
    [`${ListTranscriptJobsRequestSchema.typeName}.filter`, { charsMax: filterCharsMax }],
    ...lists.flatMap(({ typeName }): [string, LimitsInit][] => [
      [`${typeName}.page_size`, page.pageSize],
      [`${typeName}.page_token`, page.pageToken],
    ]),
    [`${DiffTranscriptVersionsRequestSchema.typeName}.skip`, { min: 0 }],
    [`${SignTranscriptExportRequestSchema.typeName}.format`, { values: [...writtenFormats] }],
    [`${ImportTranscriptRequestSchema.typeName}.format`, { values: [...importFormats] }],
    [`${RecognitionConfigSchema.typeName}.encoding`, { values: [...encodings] }],
    [
      `${RecognitionConfigSchema.typeName}.sample_rate_hertz`,
      // 0 is for encodings that contain their rate.
      { min: 0, max: sampleRateHertzMax },
    ],
    [`${RecognitionConfigSchema.typeName}.max_alternatives`, { min: 0, max: alternativesMaxMax }],
    [
      `${SpeechContextSchema.typeName}.phrases`,
      { itemsMax: hintPhrasesMax, charsMax: hintCharsMax },
    ],
    [
      `${SpeakerDiarizationConfigSchema.typeName}.min_speaker_count`,
      { min: 0, max: speakersMaxMax },
    ],
    [
      `${SpeakerDiarizationConfigSchema.typeName}.max_speaker_count`,
      { min: 0, max: speakersMaxMax },
    ],
    [`${SpeechContextSchema.typeName}.boost`, { min: 0, max: hintBoostMax }],
    [`${SpeechContextSchema.typeName}.sounds_like`, soundsLike],
    [`${phrase}.phrase`, { charsMax: ofVocabulary.phraseChars }],
    [`${phrase}.language_code`, { charsMax: ofVocabulary.languageCodeChars }],
    [`${phrase}.weight`, { min: 0, max: ofVocabulary.weight }],
    [`${phrase}.sounds_like`, soundsLike],
    [`${phrase}.state`, { values: VocabularyPhrase_StateSchema.values.map(({ name }) => name) }],
    [
      `${ListVocabularyPhrasesRequestSchema.typeName}.language_code`,
      { charsMax: ofVocabulary.languageCodeChars },
    ],
    [
      `${ImportVocabularyPhrasesRequestSchema.typeName}.phrases`,
      { itemsMax: ofVocabulary.phrases },
    ],
    [`${SpeechRecognitionAlternativeSchema.typeName}.confidence`, share],
    [`${WordInfoSchema.typeName}.confidence`, share],
    [`${word}.confidence`, share],
    [`${StreamingRecognitionResultSchema.typeName}.stability`, share],
    [`${endpointing}.min_silence`, secondsOf(silenceMsBounds)],
    [`${endpointing}.max_utterance`, secondsOf(utteranceMsBounds)],
    [`${AccountSchema.typeName}.media_retention_days`, { min: 0, max: retentionDaysMax }],
    [`${AccountSchema.typeName}.transcript_retention_days`, { min: 0, max: retentionDaysMax }],
    ...named.map(({ typeName }): [string, LimitsInit] => [`${typeName}.display_name`, displayName]),
    [`${CreateApiKeyRequestSchema.typeName}.scopes`, { values: [...scopes] }],
    [`${CreateClientKeyRequestSchema.typeName}.scopes`, { values: [...scopes] }],
    [`${CreateClientKeyRequestSchema.typeName}.public_key`, { charsMax: textLengthMax }],
    ...webhooks.flatMap(({ typeName }): [string, LimitsInit][] => [
      [`${typeName}.url`, { charsMax: urlCharsMax, pattern: mediaUrlPattern.source }],
      [`${typeName}.event_types`, { values: [...eventTypes] }],
    ]),
  ]);
}

function secondsOf([min, max]: readonly [number, number]): LimitsInit {
  return { secondsMin: min / 1000, secondsMax: max / 1000 };
}

test("every limit of the contract equals the limit in the code", () => {
  const inContract = new Map<string, Limits>();
  const files = contract.flatMap(({ file }) => [file, ...file.dependencies]);
  for (const file of new Set(files)) {
    const messages = [...file.messages];
    for (const message of messages) {
      messages.push(...message.nestedMessages);
      for (const field of message.fields) {
        if (!hasOption(field, limits)) continue;
        inContract.set(`${message.typeName}.${field.name}`, getOption(field, limits));
      }
    }
  }
  const inCode = [...kept].map(([name, most]) => [name, create(LimitsSchema, most)] as const);
  assert.deepEqual(inContract, new Map(inCode));
});

test("the limit of a header equals the limit in the code", () => {
  const { submitTranscriptJob } = Transcripts.method;
  const method: DescMethod = submitTranscriptJob;
  const [key] = getOption(method, headers);
  assert.deepEqual([key?.name, key?.charsMax], ["Idempotency-Key", keyCharsMax]);
});

test("the schemas of requests contain the limits", () => {
  const { schemas } = document.components;
  const field = (schema: string, name: string) => schemas[schema]?.properties?.[name];
  assert.equal(field("TranscriptMetadataInput", "subject")?.maxLength, 1000);
  assert.equal(field("TranscriptMetadataInput", "languageCode")?.minLength, 1);
  assert.equal(field("TranscriptMetadataInput", "keywords")?.maxItems, 100);
  assert.equal(field("TranscriptMetadataInput", "keywords")?.items?.maxLength, 100);
  assert.equal(field("TranscriptMetadataPatch", "speakers")?.maxProperties, 1000);
  assert.deepEqual(field("TranscriptMetadataInput", "additionalMetadata")?.propertyNames, {
    maxLength: 100,
  });
  assert.deepEqual(
    [
      field("RecognitionConfig", "sampleRateHertz")?.minimum,
      field("RecognitionConfig", "sampleRateHertz")?.maximum,
    ],
    [0, 48_000],
  );
  assert.deepEqual(field("RecognitionConfig", "encoding")?.enum, encodings);
  assert.deepEqual(field("TranscriptMetadataInput", "fileType")?.enum, ["AUDIO", "VIDEO"]);
  assert.deepEqual(schemas["TranscriptMetadataInput"]?.required, ["fileType", "languageCode"]);
  assert.equal(schemas["TranscriptMetadataPatch"]?.required, undefined);
  assert.deepEqual(schemas["SegmentInput"]?.required, ["startTime", "endTime"]);
  assert.equal(field("TranscriptMetadataInput", "originalUri")?.readOnly, true);
  assert.equal(
    field("SegmentInput", "startTime")?.pattern,
    String.raw`^[0-9]{1,7}(?:\.[0-9]{1,9})?s$`,
  );
  assert.equal(
    field("Segment", "startTime")?.pattern,
    String.raw`^-?[0-9]{1,12}(?:\.[0-9]{1,9})?s$`,
  );
  assert.equal(field("CreateWebhookRequest", "url")?.pattern, "^[Hh][Tt][Tt][Pp][Ss]?:");
  assert.equal(field("Webhook", "url")?.pattern, undefined);
  // A response can contain a longer value that an earlier version of the service accepted.
  assert.equal(field("TranscriptMetadata", "subject")?.maxLength, undefined);
});
