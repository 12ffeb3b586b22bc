import type { DescService, JsonObject } from "@bufbuild/protobuf";
import type { Scope } from "../../src/auth/caller.ts";
import { ByteStream } from "../../src/gen/google/bytestream/bytestream_pb.ts";
import { Speech as GoogleSpeech } from "../../src/gen/google/cloud/speech/v1/speech_pb.ts";
import { Operations } from "../../src/gen/google/longrunning/operations_pb.ts";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { Operator } from "../../src/gen/hlust/operator/v1/operator_pb.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Vocabulary } from "../../src/gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Webhooks } from "../../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import { Speech as TiroSpeech } from "../../src/gen/tiro/speech/v1alpha/speech_pb.ts";
import {
  googleBetaSpeech,
  originalSpeech,
  originalTranscripts,
} from "../../src/served-services.ts";
import { newId } from "../../src/std/ids.ts";
import { newKeyPair } from "../fixtures/auth-fixture.ts";
import { draftOf } from "../spec/transcripts.ts";
import type { DoorName } from "./doors.ts";
import type { Kind, Things } from "./things.ts";

/** One RPC: who may call it, where, and with what requests. */
export interface Row {
  /**
   * The scopes that a caller needs for the first request; any authenticated caller if there are
   * none. The first scope is the one in the contract, repeated here so that it does not change
   * unnoticed. The others are scopes that the request grants.
   */
  readonly scopes: readonly Scope[];
  readonly doors: readonly DoorName[];
  /** The kinds of resources that the requests name. */
  readonly of: readonly Kind[];
  /**
   * Requests that succeed for a caller that has every scope and owns everything that they name.
   */
  readonly requests: readonly [MatrixRequest, ...MatrixRequest[]];
}

/** Builds a request in JSON, with its headers if it needs any. */
export type MatrixRequest = (
  own: Things,
) => readonly [json: JsonObject, headers?: Readonly<Record<string, string>>];

const unary: readonly DoorName[] = ["REST", "gRPC", "gRPC-Web", "Connect"];
const streams: readonly DoorName[] = ["gRPC", "gRPC-Web", "Connect"];

function rowFor(scopes: readonly Scope[], doors: readonly DoorName[] = unary) {
  return (of: readonly Kind[], ...requests: Row["requests"]): Row => {
    return { scopes, doors, of, requests };
  };
}

const anyCaller = rowFor([]);
const reader = rowFor(["transcripts.read"]);
const writer = rowFor(["transcripts.write"]);
const speaker = rowFor(["speech"]);
const keeper = rowFor(["account"]);
const manager = rowFor(["operator"]);
/** A caller can grant only scopes that it has. */
const giver = rowFor(["account", "transcripts.read"]);

/** A link lets its reader do what needs the scope of readers. */
const sharer = rowFor(["transcripts.write", "transcripts.read"]);

const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" };
const recognize: MatrixRequest = () => [{ config, audio: { content: "AAAAAAAAAAA=" } }];
const stream: MatrixRequest = () => [{ streamingConfig: { config } }];
const media = { languageCode: "en-US", fileType: "AUDIO" };
/** A URL at which no server listens, with a host that needs no lookup. */
const nowhere = "http://127.0.0.1:9/talk.wav";
const submitOnce: MatrixRequest = () => [
  { metadata: media, useUri: true, uri: nowhere },
  { "idempotency-key": "the-same" },
];
const publicKey = newKeyPair("EdDSA").publicKey.export({ type: "spki", format: "pem" }).toString();
const subtitles = "1\n00:00:00,000 --> 00:00:01,000\ngóðan dag\n";

const transcripts: Readonly<Record<string, Row>> = {
  SubmitTranscriptJob: writer(
    ["upload"],
    submitOnce,
    // The second time, the idempotency key is already known.
    submitOnce,
    ({ upload }) => [{ metadata: media, useUri: false, uri: upload }],
  ),
  GetTranscriptJob: reader(["job"], ({ job }) => [{ name: job }]),
  WatchTranscriptJob: reader(["job"], ({ job }) => [{ name: job }]),
  WatchTranscriptJobs: reader(
    [],
    () => [{}],
    () => [{ filter: 'metadata.subject CONTAINS "fundur"' }],
    () => [{ transcripts: ["transcripts/0198c5a2-7c2d-7a90-a1b2-c3d4e5f60718"] }],
  ),
  ListTranscriptJobs: reader(
    [],
    () => [{}],
    () => [{ filter: 'state = "SUCCESS" AND metadata.subject CONTAINS "fundur"' }],
  ),
  CancelTranscriptJob: writer(["job"], ({ job }) => [{ name: job }]),
  RetryTranscriptJob: writer(["cancelledJob"], ({ cancelledJob }) => [{ name: cancelledJob }]),
  DeleteTranscriptJob: writer(["job"], ({ job }) => [{ name: job }]),
  SubmitAlignmentJob: writer(["spoken"], ({ spoken }) => [{ transcript: spoken }]),
  GetAlignmentJob: reader(["alignmentJob"], ({ alignmentJob }) => [{ name: alignmentJob }]),
  ListAlignmentJobs: reader([], () => [{}]),
  CancelAlignmentJob: writer(["alignmentJob"], ({ alignmentJob }) => [{ name: alignmentJob }]),
  WatchAlignmentJobs: reader([], () => [{}]),
  ListTranscripts: reader(
    [],
    () => [{}],
    () => [{ filter: 'metadata.subject CONTAINS "fundur"' }],
    () => [{ filter: 'metadata.keywords CONTAINS ["prufa"]' }],
    () => [{ ordering: { orderBy: "subject", direction: "ASCENDING" } }],
    () => [{ ordering: { orderBy: "metadata.recording_duration" } }],
  ),
  WatchTranscripts: reader(
    [],
    () => [{}],
    () => [{ filter: 'metadata.subject CONTAINS "fundur"', pageSize: 1 }],
  ),
  GetTranscript: reader(["transcript"], ({ transcript }) => [{ name: transcript }]),
  CreateTranscript: writer([], () => [{ transcript: draftOf("nýr fundur") }]),
  UpdateTranscript: writer(
    ["transcript", "version"],
    ({ transcript }) => [{ transcript: { name: transcript, metadata: { subject: "annar" } } }],
    ({ transcript }) => [
      { transcript: { name: transcript, segments: [] }, updateMask: "segments" },
    ],
    ({ transcript, version }) => [
      { transcript: { name: transcript, metadata: { subject: "þriðji" } } },
      { "if-match": version },
    ],
  ),
  ModifySegments: writer(["transcript", "version"], ({ transcript, version }) => [
    { name: transcript, changes: [{ startIndex: 0, endIndex: 1 }] },
    { "if-match": version },
  ]),
  DeleteTranscript: writer(["transcript"], ({ transcript }) => [{ name: transcript }]),
  ListTranscriptVersions: reader(["transcript"], ({ transcript }) => [{ parent: transcript }]),
  GetTranscriptVersion: reader(["transcript", "version"], ({ transcript, version }) => [
    { name: `${transcript}/versions/${version}` },
  ]),
  RestoreTranscript: writer(
    ["transcript", "version"],
    ({ transcript, version }) => [{ name: transcript, version }],
    ({ transcript, version }) => [{ name: transcript, version }, { "if-match": version }],
  ),
  DiffTranscriptVersions: reader(
    ["transcript", "version"],
    ({ transcript, version }) => [{ name: `${transcript}/versions/${version}` }],
    ({ transcript, version }) => [{ name: `${transcript}/versions/${version}`, against: version }],
  ),
  GetTranscriptDraft: reader(["drafted"], ({ drafted }) => [{ name: `${drafted}/draft` }]),
  SaveTranscriptDraft: writer(
    ["transcript", "version"],
    ({ transcript, version }) => [
      { draft: { name: `${transcript}/draft`, baseVersion: version, content: "ZHLDtmc=" } },
    ],
    ({ transcript, version }) => [
      { draft: { name: `${transcript}/draft`, baseVersion: version, content: "ZHLDtmc=" } },
      { "if-none-match": "*" },
    ],
  ),
  DeleteTranscriptDraft: writer(["drafted"], ({ drafted }) => [{ name: `${drafted}/draft` }]),
  GetReview: reader(["transcript"], ({ transcript }) => [{ name: transcript }]),
  WatchTranscript: reader(["transcript"], ({ transcript }) => [{ name: transcript }]),
  ReportPresence: reader(
    ["transcript"],
    ({ transcript }) => [{ name: transcript, session: "a" }],
    ({ transcript }) => [{ name: transcript, session: "a", editing: true, position: "1s" }],
    ({ transcript }) => [{ name: transcript, session: "a", leave: true }],
  ),
  ModifyReview: writer(["transcript"], ({ transcript }) => [
    { name: transcript, add: [{ kind: "CHECKED", startTime: "0s", endTime: "1s" }] },
  ]),
  CreateShare: sharer(
    ["transcript", "version"],
    ({ transcript }) => [{ parent: transcript }],
    ({ transcript, version }) => [{ parent: transcript, share: { version, withMedia: true } }],
  ),
  ListShares: reader(["transcript"], ({ transcript }) => [{ parent: transcript }]),
  DeleteShare: writer(["shared", "share"], ({ shared, share }) => [
    { name: `${shared}/shares/${share}` },
  ]),
  ExportTranscript: reader(
    ["transcript", "version"],
    ({ transcript }) => [{ name: transcript, format: "TEXT" }],
    ({ transcript, version }) => [{ name: transcript, format: "JSON", version }],
  ),
  SignTranscriptExport: reader(
    ["transcript", "version"],
    ({ transcript }) => [{ name: transcript, format: "VTT" }],
    ({ transcript, version }) => [{ name: transcript, format: "TEXT", version }],
  ),
  CountTranscripts: reader([], () => [{}]),
  ListFirstWords: reader([], () => [{ names: [`transcripts/${newId()}`] }]),
  // What they do for another account is tested in src/transcripts/bin.test.ts.
  BinTranscripts: writer([], () => [{ names: [`transcripts/${newId()}`] }]),
  ListBinnedTranscripts: reader([], () => [{}]),
  RestoreBinnedTranscripts: writer([], () => [{ names: [`transcripts/${newId()}`] }]),
  DeleteBinnedTranscripts: writer([], () => [{ names: [`transcripts/${newId()}`] }]),
  ImportTranscript: writer([], () => [
    { metadata: draftOf("textar").metadata, content: subtitles },
  ]),
  InitUpload: writer(
    ["transcript"],
    ({ transcript }) => [{ resourceName: transcript }],
    () => [{}],
  ),
};

const webhooks: Readonly<Record<string, Row>> = {
  CreateWebhook: keeper([], () => [{ url: nowhere }]),
  ListWebhooks: keeper([], () => [{}]),
  GetWebhook: keeper(["webhook"], ({ webhook }) => [{ name: webhook }]),
  UpdateWebhook: keeper(["webhook"], ({ webhook }) => [
    { webhook: { name: webhook, displayName: "annar" } },
  ]),
  DeleteWebhook: keeper(["webhook"], ({ webhook }) => [{ name: webhook }]),
  RotateWebhookSecret: keeper(["webhook"], ({ webhook }) => [{ name: webhook }]),
  TestWebhook: keeper(["webhook"], ({ webhook }) => [{ name: webhook }]),
  ListWebhookDeliveries: keeper(["webhook"], ({ webhook }) => [{ parent: webhook }]),
  RedeliverWebhookDelivery: keeper(["webhook", "delivery"], ({ webhook, delivery }) => [
    { name: `${webhook}/deliveries/${delivery}` },
  ]),
};

const accounts: Readonly<Record<string, Row>> = {
  GetCaller: anyCaller([], () => [{}]),
  GetAccount: anyCaller([], () => [{}]),
  ListUsageDays: anyCaller([], () => [{}]),
  ListKeyUsage: keeper([], () => [{}]),
  ListMemberUsage: keeper([], () => [{}]),
  UpdateAccount: keeper([], () => [{ account: { displayName: "Stofa" } }]),
  CreateApiKey: giver([], () => [{ displayName: "nýr", scopes: ["transcripts.read"] }]),
  ListApiKeys: keeper([], () => [{}]),
  UpdateApiKey: keeper(["apiKey"], ({ apiKey }) => [
    { apiKey: { name: apiKey, displayName: "annað" } },
  ]),
  RotateApiKey: keeper(["apiKey"], ({ apiKey }) => [{ name: apiKey }]),
  DeleteApiKey: keeper(["apiKey"], ({ apiKey }) => [{ name: apiKey }]),
  CreateClientKey: giver([], () => [{ publicKey, scopes: ["transcripts.read"] }]),
  ListClientKeys: keeper([], () => [{}]),
  UpdateClientKey: keeper(["clientKey"], ({ clientKey }) => [
    { clientKey: { name: clientKey, displayName: "annað" } },
  ]),
  DeleteClientKey: keeper(["clientKey"], ({ clientKey }) => [{ name: clientKey }]),
  CreateStreamToken: speaker([], () => [{}]),
  CreateMember: giver([], ({ fresh }) => [{ email: `${fresh}@example.org`, role: "VIEWER" }]),
  ListMembers: keeper([], () => [{}]),
  UpdateMember: keeper(["member"], ({ member }) => [
    { member: { name: member, displayName: "Jón" } },
  ]),
  CreateSignInLink: keeper(["member"], ({ member }) => [{ name: member }]),
  SendInvitation: keeper(["member"], ({ member }) => [{ name: member, languageCode: "is" }]),
  DeleteMember: keeper(["member"], ({ member }) => [{ name: member }]),
  ListSessions: anyCaller([], () => [{}]),
  DeleteSession: anyCaller(["session"], ({ session }) => [{ name: session }]),
  ListAuditEvents: keeper(
    [],
    () => [{}],
    () => [{ action: "transcript", actor: "operator" }],
  ),
};

const operator: Readonly<Record<string, Row>> = {
  ListNodes: manager([], () => [{}]),
  GetQueues: manager([], () => [{}]),
  ListManagedAccounts: manager([], () => [{}]),
  ListCatalogueModels: manager([], () => [{}]),
  CreateModelTask: manager([], () => [{ kind: "TEST", model: "it", node: `nodes/${newId()}` }]),
  ListModelTasks: manager([], () => [{}]),
  CancelModelTask: manager([], () => [{ name: `modelTasks/${newId()}` }]),
  UpdateManagedAccount: manager(["tenant"], ({ tenant }) => [
    { managedAccount: { name: tenant, ownLimits: { queuedJobs: 7 } } },
  ]),
};

const speech: Readonly<Record<string, Row>> = {
  Recognize: speaker([], recognize),
  StreamingRecognize: rowFor(["speech"], [...streams, "WebSocket"])([], stream),
  ListModels: anyCaller([], () => [{}]),
};

const vocabulary: Readonly<Record<string, Row>> = {
  ListVocabularyPhrases: reader(
    [],
    () => [{}],
    () => [{ state: "CANDIDATE", languageCode: "is-IS" }],
  ),
  CreateVocabularyPhrase: writer([], ({ fresh }) => [
    { phrase: { phrase: `orð ${fresh}`, languageCode: "is-IS" } },
  ]),
  ImportVocabularyPhrases: writer([], () => [
    { phrases: [{ phrase: "Kópasker", languageCode: "is-IS" }], skipExisting: true },
  ]),
  UpdateVocabularyPhrase: writer(["phrase"], ({ phrase }) => [
    { phrase: { name: phrase, state: "REJECTED" } },
  ]),
  DeleteVocabularyPhrase: writer(["phrase"], ({ phrase }) => [{ name: phrase }]),
};

const byteStream: Readonly<Record<string, Row>> = {
  Read: rowFor(["transcripts.read"], streams)(["content"], ({ content }) => [
    { resourceName: `blob/${content}` },
  ]),
  // The content is complete, and may be finished again.
  Write: rowFor(["transcripts.write"], streams)(["content"], ({ content }) => [
    { resourceName: `blob/${content}`, writeOffset: "5", finishWrite: true },
  ]),
  QueryWriteStatus: rowFor(["transcripts.write"], streams)(["content"], ({ content }) => [
    { resourceName: `blob/${content}` },
  ]),
};

/** The rows of a service's alias, which is served without REST and WebSocket. */
function aliasRows(
  { methods }: DescService,
  rows: Readonly<Record<string, Row>>,
): Readonly<Record<string, Row>> {
  return Object.fromEntries(
    Object.entries(rows)
      .filter(([name]) => methods.some((method) => method.name === name))
      .map(([name, row]) => [name, { ...row, doors: streams }]),
  );
}

/** The Speech service under the name of another project. */
const foreignSpeech: Readonly<Record<string, Row>> = {
  Recognize: speaker([], recognize),
  StreamingRecognize: rowFor(["speech"], streams)([], stream),
};

const longRunning: Row = writer(
  [],
  () => [{ config, audio: { uri: nowhere } }, { "idempotency-key": "the-same-operation" }],
  () => [{ config, audio: { uri: nowhere } }, { "idempotency-key": "the-same-operation" }],
  () => [{ config, audio: { content: "AAAAAAAAAAA=" } }],
);

const googleSpeech = { ...foreignSpeech, LongRunningRecognize: longRunning };

const operations: Readonly<Record<string, Row>> = {
  ListOperations: reader([], () => [{}]),
  GetOperation: reader(["operation"], ({ operation }) => [{ name: operation }]),
  WaitOperation: reader(["operation"], ({ operation }) => [{ name: operation, timeout: "0s" }]),
  CancelOperation: writer(["operation"], ({ operation }) => [{ name: operation }]),
  DeleteOperation: writer(["operation"], ({ operation }) => [{ name: operation }]),
};

/** A row for each RPC of every service. */
export const matrix: ReadonlyMap<DescService, Readonly<Record<string, Row>>> = new Map<
  DescService,
  Readonly<Record<string, Row>>
>([
  [Transcripts, transcripts],
  [ByteStream, byteStream],
  [Webhooks, webhooks],
  [Accounts, accounts],
  [Operator, operator],
  [Speech, speech],
  [Vocabulary, vocabulary],
  [originalTranscripts, aliasRows(originalTranscripts, transcripts)],
  [originalSpeech, aliasRows(originalSpeech, speech)],
  [TiroSpeech, foreignSpeech],
  [GoogleSpeech, googleSpeech],
  [googleBetaSpeech, aliasRows(googleBetaSpeech, googleSpeech)],
  [Operations, operations],
]);
