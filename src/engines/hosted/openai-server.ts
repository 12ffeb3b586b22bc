import { randomUUID } from "node:crypto";
import { Agent, type Dispatcher, errors, request } from "undici";
import { joinSamples } from "../../audio/join-samples.ts";
import { wavHeader } from "../../std/wav.ts";
import { type Hint, engineSampleRate } from "../protocol/engine.ts";
import {
  answerBytesMax,
  connectMsMax,
  type HostedServer,
  type ServerResult,
  type ServerSettings,
} from "./hosted-server.ts";
import { jsonList as listOf, jsonMember as member } from "./json-member.ts";
import { joinPieces } from "./join-pieces.ts";
import { readJsonWord } from "./json-word.ts";
import { failureOfStatus, ServerFailure, serverWords } from "./server-failure.ts";

type Fields = readonly (readonly [name: string, value: string])[];

/** Whisper reads about this much of a prompt. */
const promptCharactersMax = 800;
/**
 * A field for whisper.cpp only, since others may refuse it: without it, it encodes the audio again
 * to find the probabilities of all languages, which takes as long as the recognition.
 */
const whisperCppFields: Fields = [["no_language_probabilities", "true"]];

/**
 * Opens a server of OpenAI's POST /audio/transcriptions below the address: vLLM, speaches,
 * whisper.cpp, another Hlust. It gets whole utterances, and gives one reading of each. Words with
 * times and probabilities are used if it sends them.
 */
export function openOpenaiServer(settings: ServerSettings): HostedServer {
  const { address, key, authorities: ca } = settings;
  let { responseFormat } = settings;
  let isWhisperCpp = false;
  const base = address.href.replace(/\/+$/, "");
  const dispatcher = new Agent({
    connect: { timeout: connectMsMax, ...(ca !== undefined && { ca }) },
    maxResponseSize: answerBytesMax,
  });
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const ask = async (path: string, options: Partial<Dispatcher.RequestOptions>) => {
    try {
      const answer = await request(`${base}${path}`, {
        dispatcher,
        method: "GET",
        // The time of the caller is the limit.
        headersTimeout: 0,
        bodyTimeout: 0,
        ...options,
        headers: { ...headers, ...contentTypeOf(options) },
      });
      isWhisperCpp = answer.headers["server"] === "whisper.cpp";
      return { ...answer, text: await answer.body.text() };
    } catch (error) {
      const isTooLong = error instanceof errors.ResponseExceededMaxSizeError;
      const kind = isTooLong ? "refused" : "unreachable";
      throw new ServerFailure(kind, `${base}: ${wordsOf(error)}`, { cause: error });
    }
  };
  return {
    takesHints: true,
    isStreamed: () => false,
    // The order of those that wait there is not that of Hlust, and their time runs.
    callsMax: () => (isWhisperCpp ? 1 : undefined),
    async recognize(audio, { languageCode, hints, signal }) {
      const samples = joinSamples(await Array.fromAsync(audio));
      const language = settings.languageCode ?? languageCode.split("-", 1)[0] ?? "";
      const send = async () => {
        const { model } = settings;
        const { body, contentType } = formOf(samples, [
          ...fieldsOf({ model, responseFormat, language, hints }),
          ...(isWhisperCpp ? whisperCppFields : []),
        ]);
        const headers = { "content-type": contentType };
        return await ask("/audio/transcriptions", { method: "POST", body, headers, signal });
      };
      // Another call may change it meanwhile.
      const sentFormat = responseFormat;
      let answer = await send();
      if (sentFormat === "verbose_json" && refusesFormat(answer)) {
        // Such a model has no times of words, and never will.
        responseFormat = "json";
        answer = await send();
      }
      const { statusCode, text } = answer;
      if (statusCode === 200) return readTranscription(text);
      const kind = failureOfStatus(statusCode);
      const seconds = Number(answer.headers["retry-after"]);
      const retryAfterMs = seconds > 0 ? 1000 * seconds : undefined;
      const words = serverWords(errorWords(text), key);
      const message = `${base} answered ${statusCode}: ${words || "nothing"}`;
      throw new ServerFailure(kind, message, { retryAfterMs, status: `${statusCode}` });
    },
    async probe(signal) {
      const { statusCode } = await ask("/models", { signal });
      // Not every server has a list of models.
      if (statusCode < 500 && statusCode !== 401 && statusCode !== 403) return;
      throw new ServerFailure(failureOfStatus(statusCode), `${base} answered ${statusCode}`);
    },
    close: () => void dispatcher.close(),
  };
}

/** Whether the server refuses what it is asked for, and not the audio: its words name the field. */
function refusesFormat({ statusCode, text }: { statusCode: number; text: string }): boolean {
  const isRefused = statusCode === 400 || statusCode === 422;
  return isRefused && /response_format|verbose_json|timestamp_granularities/.test(text);
}

function contentTypeOf({ headers }: Partial<Dispatcher.RequestOptions>): Record<string, string> {
  const type: unknown = headers && Reflect.get(headers, "content-type");
  return typeof type === "string" ? { "content-type": type } : {};
}

function fieldsOf({
  model,
  responseFormat,
  language,
  hints,
}: Pick<ServerSettings, "model" | "responseFormat"> & {
  readonly language: string;
  readonly hints: readonly Hint[];
}): Fields {
  const prompt = hints.map(({ phrase }) => phrase).join(", ");
  const fields: (readonly [string, string])[] = [
    ["model", model ?? "whisper-1"],
    ["language", language],
    ["response_format", responseFormat],
    ["temperature", "0"],
  ];
  if (responseFormat === "verbose_json") fields.push(["timestamp_granularities[]", "word"]);
  if (prompt !== "") fields.push(["prompt", prompt.slice(0, promptCharactersMax)]);
  return fields;
}

function formOf(
  samples: Int16Array,
  fields: Fields,
): { readonly body: Buffer; readonly contentType: string } {
  const boundary = `hlust-${randomUUID()}`;
  const head = (more: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name=${more}\r\n\r\n`;
  const texts = fields.map(([name, value]) => `${head(`"${name}"`)}${value}\r\n`);
  const file = head('"file"; filename="utterance.wav"\r\ncontent-type: audio/wav');
  const { buffer, byteOffset, byteLength } = samples;
  const wav = wavHeader({ channels: 1, sampleRateHertz: engineSampleRate, dataBytes: byteLength });
  const end = `\r\n--${boundary}--\r\n`;
  const audio = Buffer.from(buffer, byteOffset, byteLength);
  const parts = [Buffer.from(texts.join("") + file), wav, audio, Buffer.from(end)];
  return { body: Buffer.concat(parts), contentType: `multipart/form-data; boundary=${boundary}` };
}

/** Reads json and verbose_json. Throws ServerFailure (broken). */
function readTranscription(text: string): readonly ServerResult[] {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    throw new ServerFailure("broken", "the answer is not JSON", { cause: error });
  }
  const said = member(answer, "text");
  if (typeof said !== "string") throw new ServerFailure("broken", "the answer has no text");
  // OpenAI and speaches have one list of words, whisper.cpp has one in each segment.
  const own = listOf(answer, "words");
  const listed =
    own ?? (listOf(answer, "segments") ?? []).flatMap((each) => listOf(each, "words") ?? []);
  const words = listed.map((word) => readJsonWord(word, "probability"));
  return [[{ text: joinLines(said), words: joinPieces(words) }]];
}

/**
 * Returns a text in one line. whisper.cpp ends a line after 60 characters, also within a word.
 * Where lines begin with a space, a word does so too.
 */
function joinLines(text: string): string {
  return /(?:^|\n) /.test(text) ? text.replaceAll("\n", "") : text;
}

/** Returns the words of an error: {"error": {"message"}}, {"error"}, {"message"} or {"detail"}. */
function errorWords(text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    const error = member(answer, "error");
    const found = [
      member(error, "message"),
      error,
      member(answer, "message"),
      member(answer, "detail"),
    ];
    return found.find((each) => typeof each === "string") ?? text;
  } catch {
    return text;
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" ? `${code} ${error.message}` : error.message;
}
