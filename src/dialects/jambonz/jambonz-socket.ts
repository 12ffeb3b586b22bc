import type { Caller } from "../../auth/caller.ts";
import { Speech } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { canRepeat, errorBody } from "../../server/answer-errors.ts";
import type { DialectSocket, SocketClose } from "../../server/dialect-socket.ts";
import type { SocketDialect } from "../../server/dialect-sockets.ts";
import type { ServiceError } from "../../std/service-error.ts";
import { shownSocketKey } from "../credentials.ts";
import { LiveSession, type LiveEvent, type LiveParts } from "../live-session.ts";
import { readableText } from "../transcribe-recording.ts";
import { JambonzInput } from "./jambonz-input.ts";
import { readStart } from "./read-start.ts";

export interface JambonzParts extends LiveParts {
  readonly defaultLanguage: string | undefined;
}

/** The maximum size of a message: 10 s of 48 kHz audio. */
const messageBytesMax = 1 << 20;
const fields = { audio: "audio", sampleRateHertz: "sampleRateHz" };

/** The custom speech of jambonz: a WebSocket at /jambonz. */
export function createJambonzSocket(parts: JambonzParts): SocketDialect {
  return {
    protocol: "jambonz",
    path: /^\/jambonz(?:\/(?<language>[^/]+))?\/?$/,
    messageBytesMax,
    method: Speech.method.streamingRecognize,
    protocolOf: ([first]) => first,
    shownKey: shownSocketKey,
    admit: ({ path: { language = "" } }) => ({
      serve: async (socket, caller) => await serve(parts, language, { socket, caller }),
    }),
    errorAnswer(error) {
      const { status, headers } = errorBody(error);
      return { status, headers, body: JSON.stringify({ type: "error", error: error.message }) };
    },
    closeOf,
  };
}

function closeOf(error: ServiceError): SocketClose {
  const { message: reason } = error;
  const message = JSON.stringify({ type: "error", error: reason });
  if (canRepeat(error)) return { message, code: 1013, reason };
  return { message, code: errorBody(error).status < 500 ? 1008 : 1011, reason };
}

async function serve(
  parts: JambonzParts,
  pathLanguage: string,
  { socket, caller }: { readonly socket: DialectSocket; readonly caller: Caller },
): Promise<SocketClose> {
  const input = new JambonzInput(socket);
  const start = await input.start();
  if (!start) return { code: 1000 };
  const wish = readStart(start, pathLanguage, parts);
  const { languageCode, sampleRateHertz, interim, hints } = wish;
  const session = new LiveSession(
    parts,
    {
      audio: { kind: "bare", encoding: "s16", sampleRateHertz, channels: 1 },
      writing: { languageCode, ...readableText },
      hints,
      interim,
      fields,
    },
    input,
    { caller, signal: socket.signal },
  );
  for await (const event of session.events()) {
    const message = transcriptionOf(event, languageCode);
    const sending = message && socket.send(JSON.stringify(message));
    if (sending) await sending;
  }
  return { code: 1000 };
}

/** Returns the message for an event; undefined for none. */
function transcriptionOf(event: LiveEvent, language: string): object | undefined {
  if (event.kind !== "interim" && event.kind !== "final") return undefined;
  const found = event.kind === "final" ? event.alternatives : [event.best];
  const [best] = found;
  if (!best || best.text === "") return undefined;
  const alternatives = found.map(({ text, words }) => ({
    confidence: mean(words.map(({ confidence }) => confidence ?? 1)),
    transcript: text,
  }));
  const isFinal = event.kind === "final";
  return { type: "transcription", is_final: isFinal, alternatives, channel: 1, language };
}

function mean(values: readonly number[]): number {
  if (values.length === 0) return 1;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
