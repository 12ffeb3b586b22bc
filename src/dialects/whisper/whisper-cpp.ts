import { Speech } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { errorBody } from "../../server/answer-errors.ts";
import type { FailureAnswer } from "../../server/answer-failure.ts";
import type { ServiceError } from "../../std/service-error.ts";
import type { Dialect, DialectCall } from "../dialect.ts";
import { fileErrorStatus } from "../file-error-status.ts";
import { FormFields, isYes } from "../form-fields.ts";
import { primaryOf } from "../language-of.ts";
import { readWish } from "../openai/read-wish.ts";
import {
  answerFormats,
  verboseSegments,
  writeTranscription,
} from "../openai/write-transcription.ts";
import { requireFile, type OpenAiParts } from "../openai/openai.ts";
import { PatientAnswer } from "../patient-answer.ts";
import { receiveForm } from "../receive-form.ts";
import {
  readableText,
  transcribeRecording,
  type TranscribedRecording,
} from "../transcribe-recording.ts";
import type { SpokenSegment } from "../../transcripts/spoken.ts";

/** The media types of whisper.cpp, where they differ from OpenAI's. */
const contentTypes: Readonly<Record<string, string>> = {
  text: "text/html; charset=utf-8",
  srt: "application/x-subrip",
};

/** The server of whisper.cpp: POST /inference, with OpenAI's formats. */
export function createWhisperCpp(parts: OpenAiParts): Dialect {
  return {
    protocol: "whisper",
    routes: [{ method: "POST", path: /^\/inference$/, handle: async (call) => infer(parts, call) }],
    errorAnswer: whisperErrorAnswer,
  };
}

/** Returns an error as whisper.cpp does: its text alone. */
function whisperErrorAnswer(error: ServiceError): FailureAnswer {
  const { headers } = errorBody(error);
  const status = fileErrorStatus(error);
  return { status, headers, body: JSON.stringify({ error: error.message }) };
}

async function infer(parts: OpenAiParts, call: DialectCall): Promise<void> {
  const caller = await call.authenticate(Speech.method.recognize);
  await using form = await receiveForm(call, { ...parts, names: ["file"] });
  const fields = new FormFields([...call.query, ...form.fields.entries]);
  const { format, languageCode, hints } = readWish(fields, { ...parts, pathLanguage: "" });
  const file = requireFile(form.file);
  const own = answerFormats[format];
  const type = { ...own, contentType: contentTypes[format] ?? own.contentType };
  using answer = new PatientAnswer(call.response, type);
  const recording = await transcribeRecording(parts, {
    file,
    caller,
    writing: { languageCode, ...readableText },
    hints,
    detectsSpeakers: format === "diarized_json",
    signal: call.signal,
  });
  if (format === "verbose_json") answer.end(verboseJson(recording, languageCode, fields));
  else answer.end(writeTranscription(recording, { format, languageCode, granularities: none }));
}

const none: ReadonlySet<string> = new Set();

/** whisper.cpp has the words in their segments, and what it found of the language. */
function verboseJson(
  recording: TranscribedRecording,
  languageCode: string,
  fields: FormFields,
): string {
  const granularities = new Set(["segment"]);
  const written = writeTranscription(recording, {
    format: "verbose_json",
    languageCode,
    granularities,
  });
  const body: object = JSON.parse(written);
  const withWords = !isYes(fields.one("no_timestamps"));
  const segments = verboseSegments(recording.segments).map((segment, index) => ({
    ...segment,
    ...(withWords && { words: wordsOf(recording.segments[index]) }),
  }));
  return JSON.stringify({ ...body, segments, detected_language: primaryOf(languageCode) });
}

function wordsOf(segment: SpokenSegment | undefined) {
  return (segment?.words ?? []).map(({ text, startMs, endMs, confidence = 1 }) => ({
    word: text.trim(),
    start: startMs / 1000,
    end: endMs / 1000,
    t_dtw: -1,
    probability: confidence,
  }));
}
