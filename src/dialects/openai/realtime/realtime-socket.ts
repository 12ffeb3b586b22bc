import type { Caller } from "../../../auth/caller.ts";
import { readableText } from "../../transcribe-recording.ts";
import { Speech } from "../../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { canRepeat, errorBody } from "../../../server/answer-errors.ts";
import type { DialectSocket, SocketClose } from "../../../server/dialect-socket.ts";
import type { SocketDialect } from "../../../server/dialect-sockets.ts";
import { newId } from "../../../std/ids.ts";
import type { ServiceError } from "../../../std/service-error.ts";
import { shownSocketKey } from "../../credentials.ts";
import { LiveSession, type LiveEvent, type LiveParts } from "../../live-session.ts";
import { openAiError, openAiErrorAnswer } from "../error-answer.ts";
import { RealtimeInput } from "./realtime-input.ts";
import {
  audioOf,
  firstSettings,
  readSettings,
  type RealtimeSettings,
  type SettingsContext,
} from "./read-session.ts";
import { Turns, type RealtimeMessage } from "./turns.ts";

export interface RealtimeParts extends LiveParts {
  readonly defaultLanguage: string | undefined;
}

/** The maximum size of a message: a minute of 24 kHz audio in base64. */
const messageBytesMax = 4 << 20;
const fields = { audio: "audio", sampleRateHertz: "session.audio.input.format.rate" };

/** OpenAI's Realtime API, for transcription only: a WebSocket at /v1/realtime. */
export function createRealtimeSocket(parts: RealtimeParts): SocketDialect {
  const { recognizer, defaultLanguage } = parts;
  return {
    protocol: "openai",
    path: /^(?:\/openai(?:\/(?<language>[^/]+))?)?\/v1\/realtime\/?$/,
    messageBytesMax,
    method: Speech.method.streamingRecognize,
    protocolOf: (offered) => ["realtime", "bearer"].find((each) => offered.has(each)),
    shownKey: shownSocketKey,
    admit({ path: { language: pathLanguage = "" } }) {
      const context = { recognizer, defaultLanguage, pathLanguage };
      return {
        serve: async (socket, caller) =>
          await new RealtimeSession(parts, context, socket).run(caller),
      };
    },
    errorAnswer: openAiErrorAnswer,
    closeOf,
  };
}

function closeOf(error: ServiceError): SocketClose {
  const message = JSON.stringify({
    type: "error",
    event_id: `event_${newId()}`,
    error: { ...openAiError(error), event_id: null },
  });
  const { message: reason } = error;
  if (canRepeat(error)) return { message, code: 1013, reason };
  return { message, code: errorBody(error).status < 500 ? 1008 : 1011, reason };
}

/** A session of one client: a live session, or several after changes of its settings. */
class RealtimeSession {
  readonly #parts: RealtimeParts;
  readonly #context: SettingsContext;
  readonly #socket: DialectSocket;
  readonly #id = `sess_${newId()}`;
  readonly #turns = new Turns();
  #settings: Omit<RealtimeSettings, "languageCode"> & Partial<RealtimeSettings> = firstSettings();
  /** The audio of the live sessions that have ended. */
  #offsetMs = 0;
  #live: LiveSession | undefined;

  constructor(parts: RealtimeParts, context: SettingsContext, socket: DialectSocket) {
    this.#parts = parts;
    this.#context = context;
    this.#socket = socket;
  }

  async run(caller: Caller): Promise<SocketClose> {
    void this.#send({ type: "session.created", session: this.#session() });
    const input = new RealtimeInput(this.#socket, {
      onSession: (session, isBeta) => this.#update(session, isBeta),
      onCommit: () => this.#end(false),
      onClear: () => this.#end(true),
      onFault: (error, eventId) => {
        const about = { ...openAiError(error), event_id: eventId };
        void this.#send({ type: "error", error: about });
      },
    });
    while (!input.isOver) {
      await input.begin();
      await this.#recognize(input, caller);
    }
    return { code: 1000 };
  }

  async #recognize(input: RealtimeInput, caller: Caller): Promise<void> {
    const settings = readSettings({}, this.#settings, this.#context);
    const detects = settings.silenceMs !== undefined;
    const { languageCode, hints, silenceMs: silenceMsMin } = settings;
    const writing = { languageCode, ...readableText };
    const audio = audioOf(settings);
    const config = { audio, writing, hints, interim: detects, silenceMsMin, fields };
    const { signal } = this.#socket;
    const live = new LiveSession(this.#parts, config, input, { caller, signal });
    this.#live = live;
    for await (const event of live.events()) {
      for (const message of this.#turns.take(this.#later(event), detects)) {
        const sending = this.#send(message);
        if (sending) await sending;
      }
    }
    this.#offsetMs += live.audioMs;
    this.#live = undefined;
  }

  /** Returns an event with the times of the whole session; words are not used here. */
  #later(event: LiveEvent): LiveEvent {
    const offsetMs = this.#offsetMs;
    if (offsetMs === 0) return event;
    if (event.kind === "speechStart") return { ...event, atMs: event.atMs + offsetMs };
    return { ...event, endMs: event.endMs + offsetMs };
  }

  #update(session: object, isBeta: boolean): boolean {
    const before = JSON.stringify(this.#essence());
    this.#settings = readSettings(session, this.#settings, this.#context);
    const type = isBeta ? "transcription_session.updated" : "session.updated";
    void this.#send({ type, session: this.#session() });
    return this.#live !== undefined && JSON.stringify(this.#essence()) !== before;
  }

  #essence(): object {
    const { format, languageCode, hints, silenceMs } = this.#settings;
    return { format, languageCode, hints, silenceMs };
  }

  #end(isCleared: boolean): void {
    const audioMs = this.#offsetMs + (this.#live?.audioMs ?? 0);
    const detects = this.#settings.silenceMs !== undefined;
    for (const message of this.#turns.end(audioMs, { isCleared, detects }))
      void this.#send(message);
  }

  #session(): object {
    return sessionOf(this.#id, this.#settings);
  }

  #send(message: RealtimeMessage): Promise<void> | undefined {
    const { type, ...members } = message;
    return this.#socket.send(JSON.stringify({ type, event_id: `event_${newId()}`, ...members }));
  }
}

/** Returns a session as its client sees it. */
export function sessionOf(
  id: string,
  { format, silenceMs, transcription }: Omit<RealtimeSettings, "languageCode">,
): object {
  const detection =
    silenceMs === undefined
      ? null
      : {
          type: "server_vad",
          threshold: 0.5,
          prefix_padding_ms: 300,
          silence_duration_ms: silenceMs,
        };
  const input = { format, transcription, noise_reduction: null, turn_detection: detection };
  return {
    id,
    object: "realtime.transcription_session",
    type: "transcription",
    audio: { input },
    include: null,
  };
}
