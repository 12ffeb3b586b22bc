import { Speech } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import type { Caller } from "../../auth/caller.ts";
import type { ServedModel } from "../../engines/pool/pool-state.ts";
import type { DialectSocket, SocketClose } from "../../server/dialect-socket.ts";
import type { SocketDialect } from "../../server/dialect-sockets.ts";
import { shownSocketKey } from "../credentials.ts";
import { FormFields } from "../form-fields.ts";
import { LiveSession, type LiveParts } from "../live-session.ts";
import { deepgramClose, deepgramErrorAnswer, idleClose } from "./error-answer.ts";
import { ListenInput } from "./listen-input.ts";
import { LiveResults } from "./live-results.ts";
import { readStreamOptions, type StreamOptions } from "./read-options.ts";
import { namedModel, seconds, type NamedModel } from "./write-results.ts";

export interface ListenParts extends LiveParts {
  readonly models: () => readonly ServedModel[];
  readonly defaultLanguage: string | undefined;
  /** A socket without audio and messages for this long is closed. Default: 10 s. */
  readonly idleMsMax?: number;
}

/** The paths, also under /deepgram and /deepgram/<language>. */
export const listenPath = /^(?:\/deepgram(?:\/(?<language>[^/]+))?)?\/v1\/listen\/?$/;
/** The maximum size of a message: 10 s of 48 kHz audio. */
const messageBytesMax = 1 << 20;
const idleMsMaxDefault = 10_000;
const fields = { audio: "audio", sampleRateHertz: "sample_rate" };

/** Deepgram's live transcription: a WebSocket at /v1/listen. */
export function createListenSocket(parts: ListenParts): SocketDialect {
  const { recognizer, defaultLanguage } = parts;
  return {
    protocol: "deepgram",
    path: listenPath,
    messageBytesMax,
    method: Speech.method.streamingRecognize,
    // The key may be the second one, and is not repeated.
    protocolOf: ([first]) => first,
    shownKey: shownSocketKey,
    admit({ query, path: { language: pathLanguage = "" }, requestId }) {
      const context = { recognizer, defaultLanguage, pathLanguage };
      const options = readStreamOptions(new FormFields(query), context);
      return {
        serve: async (socket, caller) =>
          await listen(parts, options, { socket, caller, requestId }),
      };
    },
    errorAnswer: deepgramErrorAnswer,
    closeOf: deepgramClose,
  };
}

interface ListenCall {
  readonly socket: DialectSocket;
  readonly caller: Caller;
  readonly requestId: string;
}

async function listen(
  parts: ListenParts,
  options: StreamOptions,
  { socket, caller, requestId }: ListenCall,
): Promise<SocketClose> {
  const model = modelOf(parts.models(), options.writing.languageCode, "live");
  const now = (): number => performance.now();
  const results = new LiveResults({ ...options, requestId, model, now });
  const send = (messages: Iterable<object>): Promise<void> | undefined => {
    let sending: Promise<void> | undefined;
    for (const message of messages) sending = socket.send(JSON.stringify(message));
    return sending;
  };
  using input = new ListenInput(socket, {
    idleMsMax: parts.idleMsMax ?? idleMsMaxDefault,
    onAudio: () => void send(results.listen(session.audioMs)),
  });
  const session = new LiveSession(parts, { ...options, fields }, input, {
    caller,
    signal: socket.signal,
  });
  let finalized = 0;
  for await (const event of session.events()) {
    const sending = send(results.take(event, finalized < input.finalizes));
    if (event.kind === "finalized") finalized += 1;
    if (sending) await sending;
  }
  await send(results.end(session.audioMs));
  if (input.isIdle) return idleClose;
  const facts = { requestId, sha256: input.sha256(), durationMs: session.audioMs, model };
  const metadata = { type: "Metadata", ...metadataOf(facts) };
  return { message: JSON.stringify(metadata), code: 1000 };
}

/** Returns what Deepgram says of a finished call. */
export function metadataOf({
  requestId,
  sha256,
  durationMs,
  model: { uuid, info },
}: {
  readonly requestId: string;
  readonly sha256: string;
  readonly durationMs: number;
  readonly model: NamedModel;
}): object {
  return {
    transaction_key: "deprecated",
    request_id: requestId,
    sha256,
    created: new Date().toISOString(),
    duration: seconds(durationMs),
    channels: 1,
    models: [uuid],
    model_info: { [uuid]: info },
  };
}

/** Returns the model that serves a language. */
export function modelOf(
  models: readonly ServedModel[],
  languageCode: string,
  mode: "live" | "short",
): NamedModel {
  const found =
    models.find(
      ({ languageCodes, uses }) => languageCodes.includes(languageCode) && uses.includes(mode),
    ) ?? models.find(({ languageCodes }) => languageCodes.includes(languageCode));
  return namedModel(found?.name ?? "", found?.version ?? "");
}
