import { Speech } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import type { ServedModel } from "../../engines/pool/pool-state.ts";
import { answerJson } from "../../server/http.ts";
import { Violations, ServiceError, shown } from "../../std/service-error.ts";
import type { Dialect, DialectCall } from "../dialect.ts";
import { EventStream } from "../event-stream.ts";
import { FormFields } from "../form-fields.ts";
import { primaryOf } from "../language-of.ts";
import { PatientAnswer } from "../patient-answer.ts";
import { receiveForm, type FormParts } from "../receive-form.ts";
import { readableText, transcribeRecording, type RecordingParts } from "../transcribe-recording.ts";
import { openAiError, openAiErrorAnswer } from "./error-answer.ts";
import { readWish, type TranscriptionWish } from "./read-wish.ts";
import {
  answerFormats,
  diarizedSegments,
  textOf,
  verboseSegments,
  writeTranscription,
} from "./write-transcription.ts";

export interface OpenAiParts extends RecordingParts, FormParts {
  readonly models: () => readonly ServedModel[];
  readonly defaultLanguage: string | undefined;
}

/** The paths, also under the prefixes /openai and /openai/<language>. */
const prefix = "(?:/openai(?:/(?<language>[^/]+))?)?/v1";
const path = (rest: string): RegExp => new RegExp(`^${prefix}/${rest}/?$`);

/**
 * OpenAI's transcription of files: POST /v1/audio/transcriptions and GET /v1/models. The name of a
 * model is not looked at: the language chooses the model.
 */
export function createOpenAi(parts: OpenAiParts): Dialect {
  return {
    protocol: "openai",
    routes: [
      {
        method: "POST",
        path: path("audio/transcriptions"),
        handle: async (call) => answerTranscription(parts, call),
      },
      { method: "POST", path: path("audio/translations"), handle: refuseTranslation },
      { method: "GET", path: path("models"), handle: async (call) => answerModels(parts, call) },
      {
        method: "GET",
        path: path("models/(?<model>.+?)"),
        handle: async (call) => answerModel(parts, call),
      },
    ],
    errorAnswer: openAiErrorAnswer,
  };
}

async function answerTranscription(parts: OpenAiParts, call: DialectCall): Promise<void> {
  const caller = await call.authenticate(Speech.method.recognize);
  await using form = await receiveForm(call, { ...parts, names: ["file"] });
  const fields = new FormFields([...call.query, ...form.fields.entries]);
  const context = { ...parts, pathLanguage: call.path["language"] ?? "" };
  const wish = readWish(fields, context);
  const file = requireFile(form.file);
  const { languageCode, hints, format } = wish;
  const recording = {
    file,
    caller,
    writing: { languageCode, ...readableText },
    hints,
    detectsSpeakers: format === "diarized_json",
    signal: call.signal,
  };
  if (wish.streams) {
    await streamTranscription(parts, recording, wish, call);
    return;
  }
  using answer = new PatientAnswer(call.response, answerFormats[format]);
  answer.end(writeTranscription(await transcribeRecording(parts, recording), wish));
}

/** Sends the text as it becomes final: what was sent is never taken back. */
async function streamTranscription(
  parts: OpenAiParts,
  recording: Parameters<typeof transcribeRecording>[1],
  { format }: TranscriptionWish,
  { response }: DialectCall,
): Promise<void> {
  using events = new EventStream(response);
  let sent = "";
  try {
    const { segments, durationMs } = await transcribeRecording(parts, {
      ...recording,
      onSegments(found) {
        const delta = `${sent === "" ? "" : " "}${textOf(found)}`;
        sent += delta;
        events.send("transcript.text.delta", { delta });
      },
    });
    if (recording.detectsSpeakers) {
      for (const segment of diarizedSegments(segments)) {
        const { id } = segment;
        const delta = `${sent === "" ? "" : " "}${segment.text}`;
        sent += delta;
        events.send("transcript.text.delta", { delta, segment_id: id });
        events.send("transcript.text.segment", segment);
      }
    }
    const usage = { type: "duration", seconds: Math.ceil(durationMs / 1000) };
    const verbose = format === "verbose_json" && { segments: verboseSegments(segments) };
    events.send("transcript.text.done", { text: sent, ...verbose, usage });
    events.end();
  } catch (error) {
    if (!events.hasBegun || !(error instanceof ServiceError)) throw error;
    events.fail(openAiError(error));
  }
}

function refuseTranslation(): never {
  const violations = new Violations();
  violations.add("task", "cannot be translation: this service transcribes in the spoken language");
  violations.throwIfAny();
  throw new Error("there is a violation");
}

async function answerModels({ models }: OpenAiParts, call: DialectCall): Promise<void> {
  await call.authenticate(Speech.method.listModels);
  const data = models().map(modelOf);
  answerJson(call.response, 200, JSON.stringify({ object: "list", data }));
}

async function answerModel({ models }: OpenAiParts, call: DialectCall): Promise<void> {
  await call.authenticate(Speech.method.listModels);
  const name = call.path["model"] ?? "";
  const found = models().find((each) => each.name === name);
  if (!found) throw new ServiceError("not_found", `the model ${shown(name)} is not installed`);
  answerJson(call.response, 200, JSON.stringify(modelOf(found)));
}

function modelOf({ name, languageCodes }: ServedModel) {
  return {
    id: name,
    object: "model",
    // Unknown, but clients require a number.
    created: 0,
    owned_by: "hlust",
    task: "automatic-speech-recognition",
    language: languageCodes.map(primaryOf),
  };
}

/** Returns the recording of a form. Throws invalid_argument if there is none. */
export function requireFile(file: string | undefined, name = "file"): string {
  if (file !== undefined) return file;
  const violations = new Violations();
  violations.add(name, "is required: a recording, as a file of the form");
  violations.throwIfAny();
  throw new Error("there is a violation");
}
