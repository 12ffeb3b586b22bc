import type { ServedModel } from "../../engines/pool/pool-state.ts";
import { Speech } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { callOriginOf } from "../../server/call-origin.ts";
import { headerOf } from "../../server/http.ts";
import { invalidArgument } from "../../std/service-error.ts";
import type { Dialect, DialectCall } from "../dialect.ts";
import { FormFields } from "../form-fields.ts";
import { PatientAnswer } from "../patient-answer.ts";
import type { FormParts } from "../receive-form.ts";
import { receiveRecording } from "../receive-recording.ts";
import { transcribeRecording, type RecordingParts } from "../transcribe-recording.ts";
import { deepgramErrorAnswer } from "./error-answer.ts";
import { writeFileResults } from "./file-results.ts";
import { listenPath, metadataOf, modelOf } from "./listen-socket.ts";
import { readFileOptions } from "./read-options.ts";

export interface ListenFileParts extends RecordingParts, FormParts {
  readonly models: () => readonly ServedModel[];
  readonly defaultLanguage: string | undefined;
}

/** Deepgram's transcription of files: POST /v1/listen. */
export function createListenFile(parts: ListenFileParts): Dialect {
  return {
    protocol: "deepgram",
    routes: [
      { method: "POST", path: listenPath, handle: async (call) => answerListen(parts, call) },
    ],
    errorAnswer: deepgramErrorAnswer,
  };
}

async function answerListen(parts: ListenFileParts, call: DialectCall): Promise<void> {
  const caller = await call.authenticate(Speech.method.recognize);
  const { recognizer, defaultLanguage } = parts;
  const context = { recognizer, defaultLanguage, pathLanguage: call.path["language"] ?? "" };
  const options = readFileOptions(new FormFields(call.query), context);
  if (/^application\/json\b/i.test(headerOf(call.request, "content-type") ?? "")) {
    const description = "cannot be used: send the recording itself as the body";
    throw invalidArgument([{ field: "url", description }]);
  }
  await using recording = await receiveRecording(call, { ...parts, samples: options.bare });
  const { file, sha256 } = recording;
  const { writing, hints, detectsSpeakers } = options;
  using answer = new PatientAnswer(call.response, { contentType: "application/json", filler: " " });
  const found = await transcribeRecording(parts, {
    file,
    caller,
    writing,
    hints,
    detectsSpeakers,
    signal: call.signal,
  });
  const { requestId } = callOriginOf(call.request);
  const model = modelOf(parts.models(), writing.languageCode, "short");
  const metadata = metadataOf({ requestId, sha256, durationMs: found.durationMs, model });
  const results = writeFileResults(found.segments, options);
  answer.end(JSON.stringify({ metadata, results }), { "dg-request-id": requestId });
}
