import { open } from "node:fs/promises";
import { Speech } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { wavHeader } from "../../std/wav.ts";
import { subtitlesOf } from "../../cues/subtitles.ts";
import { errorBody } from "../../server/answer-errors.ts";
import type { FailureAnswer } from "../../server/answer-failure.ts";
import { answerJson } from "../../server/http.ts";
import { shown, Violations, type ServiceError } from "../../std/service-error.ts";
import { writeSrt } from "../../transcripts/subtitles/write-srt.ts";
import { writeVtt } from "../../transcripts/subtitles/write-vtt.ts";
import type { Dialect, DialectCall } from "../dialect.ts";
import { fileErrorStatus } from "../file-error-status.ts";
import { FormFields } from "../form-fields.ts";
import { languageOf, nameOf, primaryOf } from "../language-of.ts";
import { requireFile, type OpenAiParts } from "../openai/openai.ts";
import { readWish } from "../openai/read-wish.ts";
import { textOf, verboseSegments } from "../openai/write-transcription.ts";
import { PatientAnswer } from "../patient-answer.ts";
import { receiveForm } from "../receive-form.ts";
import {
  readableText,
  transcribeRecording,
  type TranscribedRecording,
} from "../transcribe-recording.ts";

const outputs = ["txt", "vtt", "srt", "tsv", "json"] as const;
type Output = (typeof outputs)[number];

/** The names of the part with the recording; the second is of clients of OpenAI's form. */
const names = ["audio_file", "file"];

/** Raw samples come as 16 bits at this rate, one channel. */
const rawRate = 16_000;

/**
 * whisper-asr-webservice: POST /asr and /detect-language, whose options are in the query. Its
 * errors are plain lines: Bazarr takes the body of any answer for subtitles, and finds out only
 * when it parses them.
 */
export function createWhisperAsr(parts: OpenAiParts): Dialect {
  return {
    protocol: "whisper",
    routes: [
      { method: "POST", path: /^\/asr$/, handle: async (call) => answerAsr(parts, call) },
      {
        method: "POST",
        path: /^\/detect-language$/,
        handle: async (call) => answerLanguage(parts, call),
      },
    ],
    errorAnswer: plainErrorAnswer,
  };
}

function plainErrorAnswer(error: ServiceError): FailureAnswer {
  const { headers } = errorBody(error);
  const status = fileErrorStatus(error);
  headers["content-type"] = "text/plain; charset=utf-8";
  // Wrong values have the status that the original's framework gives them.
  const isOfValues = error.violations.length > 0 && status === 400;
  return { status: isOfValues ? 422 : status, headers, body: `${error.message}\n` };
}

async function answerAsr(parts: OpenAiParts, call: DialectCall): Promise<void> {
  const caller = await call.authenticate(Speech.method.recognize);
  const { output, encoded, asked } = readQuery(call.query);
  await using form = await receiveForm(call, {
    ...parts,
    names,
    header: encoded ? undefined : wavHeader({ sampleRateHertz: rawRate, dataBytes: 0 }),
  });
  const { languageCode, hints } = readWish(asked, { ...parts, pathLanguage: "" });
  const file = requireFile(form.file, "audio_file");
  if (!encoded) await completeHeader(file);
  const name = `${form.fileName.replace(/\.[^.]*$/, "") || "audio"}.${output}`;
  using answer = new PatientAnswer(call.response, {
    contentType: "text/plain; charset=utf-8",
    ...(output === "vtt" ? { opening: "WEBVTT\n" } : {}),
    filler: output === "json" ? " " : "\n",
  });
  const recording = await transcribeRecording(parts, {
    file,
    caller,
    writing: { languageCode, ...readableText },
    hints,
    detectsSpeakers: false,
    signal: call.signal,
  });
  answer.end(writeOutput(recording, output, languageCode), {
    "asr-engine": "hlust",
    "content-disposition": `attachment; filename="${name.replaceAll(/[^\w.-]/g, "_")}"`,
  });
}

/** Reads the options of /asr. Throws invalid_argument with every violation. */
function readQuery(query: URLSearchParams) {
  const violations = new Violations();
  const fields = new FormFields(query);
  const name = fields.one("output").toLowerCase() || "txt";
  const output = outputs.find((each) => each === name);
  if (!output) violations.add("output", `must be ${outputs.join(", ")}, not ${shown(name)}`);
  const task = fields.one("task").toLowerCase();
  if (task !== "" && task !== "transcribe") {
    violations.add("task", `cannot be ${shown(task)}: this service transcribes only`);
  }
  violations.throwIfAny();
  const asked = new FormFields([
    ["language", fields.one("language")],
    ["prompt", fields.one("initial_prompt")],
  ]);
  const encoded = !/^(?:false|0|no|off)$/i.test(fields.one("encode"));
  return { output: output ?? "txt", encoded, asked };
}

/** Writes the size of the samples into the header before them. */
async function completeHeader(path: string): Promise<void> {
  await using file = await open(path, "r+");
  const { size } = await file.stat();
  const { length } = wavHeader({ sampleRateHertz: rawRate, dataBytes: 0 });
  const dataBytes = 2 * Math.floor((size - length) / 2);
  await file.write(wavHeader({ sampleRateHertz: rawRate, dataBytes }), 0, length, 0);
}

/**
 * States the language of the operator's choice: the models do not detect languages. Without a
 * choice it answers with an error, since a wrong language makes nonsense of a film.
 */
async function answerLanguage(parts: OpenAiParts, call: DialectCall): Promise<void> {
  await call.authenticate(Speech.method.recognize);
  await using form = await receiveForm(call, { ...parts, names });
  requireFile(form.file, "audio_file");
  const violations = new Violations();
  const { recognizer, defaultLanguage } = parts;
  const choice = { recognizer, mode: "job", defaultLanguage } as const;
  const languageCode = languageOf("", "language", choice, violations);
  violations.throwIfAny();
  const body = {
    detected_language: nameOf(languageCode),
    language_code: primaryOf(languageCode),
    confidence: 1,
  };
  answerJson(call.response, 200, JSON.stringify(body));
}

function writeOutput(
  { segments, durationMs }: TranscribedRecording,
  output: Output,
  languageCode: string,
): string {
  switch (output) {
    case "txt":
      return segments.map((segment) => `${textOf([segment])}\n`).join("");
    case "srt":
      return writeSrt(subtitlesOf(segments, durationMs));
    case "vtt":
      return writeVtt(subtitlesOf(segments, durationMs), (id) => id).replace(/^WEBVTT\n/, "");
    case "tsv":
      return [
        "start\tend\ttext\n",
        ...segments.map((each) => `${each.startMs}\t${each.endMs}\t${textOf([each])}\n`),
      ].join("");
    case "json":
      return JSON.stringify({
        language: primaryOf(languageCode),
        segments: verboseSegments(segments),
        text: textOf(segments),
      });
    default:
      return output satisfies never;
  }
}
