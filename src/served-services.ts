import { ConfigError, type Config } from "./config.ts";
import { ByteStream } from "./gen/google/bytestream/bytestream_pb.ts";
import { Speech as GoogleSpeech } from "./gen/google/cloud/speech/v1/speech_pb.ts";
import { Operations } from "./gen/google/longrunning/operations_pb.ts";
import { Accounts } from "./gen/hlust/accounts/v1/accounts_pb.ts";
import { Speech } from "./gen/hlust/speech/v2beta1/speech_pb.ts";
import { Vocabulary } from "./gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { Transcripts } from "./gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Speech as TiroSpeech } from "./gen/tiro/speech/v1alpha/speech_pb.ts";
import { Operator } from "./gen/hlust/operator/v1/operator_pb.ts";
import { Webhooks } from "./gen/hlust/webhooks/v1/webhooks_pb.ts";
import type { ServedMethod } from "./metrics/call-metrics.ts";
import { readHttpRulesFile } from "./server/http-rules-file.ts";
import { serviceAlias } from "./server/service-alias.ts";
import { ServiceConfigError, type ServiceConfig } from "./transcoding/service-config.ts";

/** The Transcripts service under the name that clients of the original service call. */
export const originalTranscripts = serviceAlias(
  Transcripts,
  "lr.transcript.v1alpha1.TranscriptService",
  [
    "SubmitTranscriptJob",
    "GetTranscriptJob",
    "ListTranscriptJobs",
    "WatchTranscriptJobs",
    "SubmitAlignmentJob",
    "GetAlignmentJob",
    "ListAlignmentJobs",
    "CancelAlignmentJob",
    "WatchAlignmentJobs",
    "GetTranscript",
    "ListTranscripts",
    "WatchTranscripts",
    "CreateTranscript",
    "UpdateTranscript",
    "DeleteTranscript",
    "ExportTranscript",
  ],
);

/** The Speech service under the name that clients of the original service call. */
export const originalSpeech = serviceAlias(Speech, "lr.speech.v2beta1.Speech", [
  "Recognize",
  "StreamingRecognize",
]);

/** Google's speech service under the name of its beta, which has the same field numbers. */
export const googleBetaSpeech = serviceAlias(
  GoogleSpeech,
  "google.cloud.speech.v1p1beta1.Speech",
  GoogleSpeech.methods.map(({ name }) => name),
);

/** The services under the names of other projects, and the service that each one is. */
const aliases = [
  [originalTranscripts, Transcripts],
  [originalSpeech, Speech],
  [googleBetaSpeech, GoogleSpeech],
] as const;

/** Returns the methods of all services. Those of an alias are counted as those of the service. */
export function servedMethods(): readonly ServedMethod[] {
  const own = [...contract, ByteStream].map((service) => [service, service] as const);
  return [...own, ...aliases].flatMap(([{ typeName, methods }, { typeName: countedAs }]) =>
    methods.map(({ name, methodKind }) => ({
      name: `${typeName}/${name}`,
      countedAs: `${countedAs}/${name}`,
      isStream: methodKind !== "unary",
    })),
  );
}

/** The services that have HTTP rules. */
export const contract = [
  Transcripts,
  Speech,
  GoogleSpeech,
  Operations,
  TiroSpeech,
  Vocabulary,
  Accounts,
  Webhooks,
  Operator,
] as const;

/**
 * Returns the HTTP rules that replace those of the contract (§4.10 item 9). Throws a ConfigError
 * with every problem and its location.
 */
export async function httpRulesOf({ httpRulesFile }: Config): Promise<ServiceConfig | undefined> {
  if (httpRulesFile === undefined) return undefined;
  try {
    return await readHttpRulesFile(httpRulesFile, contract);
  } catch (error) {
    if (!(error instanceof ServiceConfigError)) throw error;
    const problems = error.problems.map((problem) => `\n  ${problem}`);
    throw new ConfigError(`HLUST_HTTP_RULES cannot be used:${problems.join("")}`, { cause: error });
  }
}
