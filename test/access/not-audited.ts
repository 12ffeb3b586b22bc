import assert from "node:assert/strict";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { ByteStream } from "../../src/gen/google/bytestream/bytestream_pb.ts";
import { Speech as GoogleSpeech } from "../../src/gen/google/cloud/speech/v1/speech_pb.ts";
import { Operations } from "../../src/gen/google/longrunning/operations_pb.ts";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Operator } from "../../src/gen/hlust/operator/v1/operator_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Webhooks } from "../../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import { Speech as TiroSpeech } from "../../src/gen/tiro/speech/v1alpha/speech_pb.ts";
import {
  googleBetaSpeech,
  originalSpeech,
  originalTranscripts,
} from "../../src/served-services.ts";
import { createTranscoder } from "../../src/transcoding/transcoder.ts";
import { matrix } from "./matrix.ts";

/**
 * Fails unless each method that changes something is either in `audited`, or in the list below with
 * the reason.
 */
export function assertComplete(audited: ReadonlySet<DescMethod>): void {
  // These are other names of the same methods.
  const aliases = new Set<DescService>([originalTranscripts, originalSpeech, googleBetaSpeech]);
  const services = [...matrix.keys()].filter((one) => !aliases.has(one));
  const { bindings } = createTranscoder(services.filter((one) => one !== ByteStream));
  const reading = new Set(
    bindings.flatMap(({ httpMethod, method }) => (httpMethod === "GET" ? [method] : [])),
  );
  const changing = services.flatMap(({ methods }) => methods.filter((one) => !reading.has(one)));
  const nameOf = ({ name, parent }: DescMethod) => `${parent.typeName}.${name}`;
  assert.deepEqual(
    changing.filter((method) => audited.has(method) === notAudited.has(method)).map(nameOf),
    [],
    "methods that are not in exactly one of the lists",
  );
  const known = new Set(changing);
  const isOther = (method: DescMethod) => !known.has(method) && method.parent.name !== "Speech";
  assert.deepEqual(
    [...audited, ...notAudited.keys()].filter(isOther).map(nameOf),
    [],
    "methods that change nothing",
  );
}

const ofSessions = "needs a session; test/access/console-session.test.ts tests it";
const ofModels = "is audited; test/spec/model-tasks.test.ts tests it, with a node";
const ofVersions = "each version has its author, its time and its kind, and none is ever changed";
const ofJobs = "a job is listed with its times and its result, and changes no access";
const ofOne =
  "concerns only the caller, and lasts for less than a minute or until the text is saved";
const ofNothing = "answers without changing anything that others see";

/**
 * The methods that change something, or are called with POST, and are not in the audit log, each
 * with the reason.
 */
const notAudited: ReadonlyMap<DescMethod, string> = new Map<DescMethod, string>([
  [Accounts.method.deleteSession, ofSessions],
  [Operator.method.createModelTask, ofModels],
  [Operator.method.cancelModelTask, ofModels],
  [Webhooks.method.testWebhook, "sends a message that the deliveries list"],
  [Webhooks.method.redeliverWebhookDelivery, "sends a message that the deliveries list"],
  [Transcripts.method.submitTranscriptJob, ofJobs],
  [Transcripts.method.cancelTranscriptJob, ofJobs],
  [Transcripts.method.retryTranscriptJob, ofJobs],
  [Transcripts.method.deleteTranscriptJob, ofJobs],
  [Transcripts.method.submitAlignmentJob, ofJobs],
  [Transcripts.method.cancelAlignmentJob, ofJobs],
  [Transcripts.method.createTranscript, ofVersions],
  [Transcripts.method.importTranscript, ofVersions],
  [Transcripts.method.updateTranscript, ofVersions],
  [Transcripts.method.modifySegments, ofVersions],
  [Transcripts.method.restoreTranscript, ofVersions],
  [Transcripts.method.saveTranscriptDraft, ofOne],
  [Transcripts.method.deleteTranscriptDraft, ofOne],
  [Transcripts.method.reportPresence, ofOne],
  [Transcripts.method.signTranscriptExport, "a URL for a caller who may read, for some minutes"],
  [Transcripts.method.initUpload, "a URL for media, which is kept only with a job or a transcript"],
  [ByteStream.method.write, "media, which is kept only with a job or a transcript"],
  [ByteStream.method.read, ofNothing],
  [ByteStream.method.queryWriteStatus, ofNothing],
  [GoogleSpeech.method.longRunningRecognize, ofJobs],
  [Operations.method.cancelOperation, ofJobs],
  [Operations.method.deleteOperation, ofJobs],
  [Operations.method.waitOperation, ofNothing],
  ...[Speech, TiroSpeech, GoogleSpeech].flatMap(({ methods }) =>
    methods
      .filter(({ name }) => name !== "LongRunningRecognize")
      .map((method) => [method, ofNothing] as const),
  ),
]);
