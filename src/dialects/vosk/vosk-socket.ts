import type { Caller } from "../../auth/caller.ts";
import { Speech } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { canRepeat, errorBody } from "../../server/answer-errors.ts";
import type { DialectSocket, SocketClose } from "../../server/dialect-socket.ts";
import type { SocketDialect } from "../../server/dialect-sockets.ts";
import { type ServiceError, Violations } from "../../std/service-error.ts";
import { shownSocketKey } from "../credentials.ts";
import { languageOf } from "../language-of.ts";
import { LiveSession, type LiveParts } from "../live-session.ts";
import { readVoskConfig, voskDefaults } from "./read-config.ts";
import { VoskAnswers } from "./vosk-answers.ts";
import { VoskInput } from "./vosk-input.ts";

export interface VoskParts extends LiveParts {
  readonly defaultLanguage: string | undefined;
}

/** The maximum size of a message: clients of one request send all of their audio in one. */
const messageBytesMax = 4 << 20;
/** The names that clients offer: Asterisk, mod_audio_fork of FreeSWITCH, and browsers. */
const subprotocols = ["ws", "audio.drachtio.org", "bearer", "token"];
const fields = { audio: "audio", sampleRateHertz: "config.sample_rate" };

/** The server of Vosk: a WebSocket at /vosk, with the language in the path. */
export function createVoskSocket(parts: VoskParts): SocketDialect {
  const { recognizer, defaultLanguage } = parts;
  return {
    protocol: "vosk",
    path: /^\/vosk(?:\/(?<language>[^/]+))?\/?$/,
    messageBytesMax,
    method: Speech.method.streamingRecognize,
    protocolOf: (offered) => subprotocols.find((each) => offered.has(each)),
    shownKey: shownSocketKey,
    admit({ path: { language = "" } }) {
      const violations = new Violations();
      const choice = { recognizer, mode: "live", defaultLanguage } as const;
      const languageCode = languageOf(language, "language", choice, violations);
      violations.throwIfAny();
      return { serve: async (socket, caller) => serve(parts, languageCode, { socket, caller }) };
    },
    errorAnswer(error) {
      const { status, headers } = errorBody(error);
      return { status, headers, body: JSON.stringify({ error: error.message }) };
    },
    closeOf,
  };
}

/** Clients take every message for an answer: an error is only in the close frame. */
function closeOf(error: ServiceError): SocketClose {
  const { message: reason } = error;
  if (canRepeat(error)) return { code: 1013, reason };
  return { code: errorBody(error).status < 500 ? 1008 : 1011, reason };
}

async function serve(
  parts: VoskParts,
  languageCode: string,
  { socket, caller }: { readonly socket: DialectSocket; readonly caller: Caller },
): Promise<SocketClose> {
  let config = voskDefaults;
  const answers = new VoskAnswers();
  const send = (): Promise<void> | undefined => {
    let sending: Promise<void> | undefined;
    for (const answer of answers.ready(config)) sending = socket.send(answer);
    return sending;
  };
  const input = new VoskInput(socket, {
    onConfig(changes) {
      config = readVoskConfig(changes, config, { ...parts, languageCode });
    },
    onDue(what) {
      answers.expect(what);
      return send();
    },
  });
  await input.begin();
  const { sampleRateHertz, alternativesMax, hints } = config;
  const session = new LiveSession(
    parts,
    {
      audio: { kind: "bare", encoding: "s16", sampleRateHertz, channels: 1 },
      writing: { languageCode, formats: false, punctuation: false, masksProfanity: false },
      hints,
      interim: true,
      alternativesMax: Math.max(1, alternativesMax),
      fields,
    },
    input,
    { caller, signal: socket.signal },
  );
  for await (const event of session.events()) {
    answers.take(event);
    const sending = send();
    if (sending) await sending;
  }
  await send();
  return { message: answers.last(config), code: 1000 };
}
