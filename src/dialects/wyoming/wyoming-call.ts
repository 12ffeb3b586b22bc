import type { Authenticator } from "../../auth/authenticate.ts";
import type { Caller } from "../../auth/caller.ts";
import type { ServedModel } from "../../engines/pool/pool-state.ts";
import { Speech } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import type { AnswerError } from "../../server/answer-errors.ts";
import type { CallRecorder, RecordedCall } from "../../metrics/recorders.ts";
import { noted, recordedName, unrecorded } from "../../server/record-calls.ts";
import { newId } from "../../std/ids.ts";
import type { Log } from "../../std/log.ts";
import { ServiceError, Violations } from "../../std/service-error.ts";
import { languageOf } from "../language-of.ts";
import { LiveSession, type LiveParts } from "../live-session.ts";
import { readableText } from "../transcribe-recording.ts";
import { ChunkAudio, commonFormat, readChunkFormat } from "./chunk-audio.ts";
import type { WyomingItem } from "./event-parser.ts";
import type { EventSocket } from "./event-socket.ts";
import { serviceInfo } from "./service-info.ts";
import { WyomingInput } from "./wyoming-input.ts";

export interface WyomingParts extends LiveParts {
  readonly authenticator: Authenticator;
  readonly answerError: AnswerError;
  readonly models: () => readonly ServedModel[];
  readonly defaultLanguage: string | undefined;
  /** The address at which people find the service. */
  readonly publicUrl: () => string;
  readonly version: string;
  /** Returns the API key under which calls run. */
  readonly readKey: () => Promise<string>;
  /** Records calls, for the metrics of the node. */
  readonly recorder?: CallRecorder | undefined;
  readonly log: Log;
}

type TextItem = Extract<WyomingItem, { readonly kind: "event" }>;
type SpeechMethod = typeof Speech.method.listModels | typeof Speech.method.streamingRecognize;

const fields = { audio: "payload", sampleRateHertz: "rate" };

/**
 * Serves one connection until a transcript was written, as the reference implementation does, or an
 * error.
 */
export async function serveWyoming(socket: EventSocket, parts: WyomingParts): Promise<void> {
  const recorded = (parts.recorder ?? unrecorded).begin("wyoming");
  const call = new WyomingCall(socket, parts, recorded);
  try {
    await call.run();
  } catch (error) {
    const reason: unknown = socket.signal.aborted ? socket.signal.reason : error;
    const answer = noted(recorded, parts.answerError(reason, call.requestId));
    const { code, message: text, reason: name } = answer;
    // A client that does not read the error is disconnected.
    if (code !== "cancelled") await socket.send("error", { text, code: name }).catch(() => {});
  } finally {
    recorded.end();
    await socket.close();
  }
}

class WyomingCall {
  readonly requestId = newId();
  readonly #socket: EventSocket;
  readonly #parts: WyomingParts;
  readonly #recorded: RecordedCall;
  /** The language that the client has named; "" without one. */
  #language = "";

  constructor(socket: EventSocket, parts: WyomingParts, recorded: RecordedCall) {
    this.#socket = socket;
    this.#parts = parts;
    this.#recorded = recorded;
  }

  async run(): Promise<void> {
    for (;;) {
      const { value: item } = await this.#socket.next();
      if (!item) return;
      // The payload of an event that is not about audio.
      if (item.kind === "payload") continue;
      switch (item.type) {
        case "audio-start":
        case "audio-chunk":
          await this.#transcribe(item);
          return;
        case "audio-stop":
          await this.#socket.send("transcript", { text: "" });
          return;
        default:
          await this.#answer(item);
      }
    }
  }

  /** Answers an event that is not about audio. Unknown ones are ignored. */
  async #answer({ type, data }: TextItem): Promise<void> {
    switch (type) {
      case "describe": {
        await this.#authenticate(Speech.method.listModels);
        const { models, publicUrl, version } = this.#parts;
        const url = publicUrl();
        await this.#socket.send("info", serviceInfo({ models: models(), version, url }));
        break;
      }
      case "ping":
        await this.#socket.send("pong", { text: data["text"] ?? null });
        break;
      case "transcribe":
        this.#language = typeof data["language"] === "string" ? data["language"] : "";
        break;
    }
  }

  async #transcribe(first: TextItem): Promise<void> {
    this.#socket.beginAudio();
    const method = Speech.method.streamingRecognize;
    const caller = await this.#authenticate(method);
    const { authenticator } = this.#parts;
    using _watched = authenticator.watch(caller, method, (reason) => this.#socket.end(reason));
    const languageCode = this.#languageCode();
    const audio = new ChunkAudio();
    audio.change(readChunkFormat(first.data, commonFormat));
    const input = new WyomingInput(this.#socket, {
      audio,
      isAudio: first.type === "audio-chunk",
      onOther: async (item) => await this.#answer(item),
    });
    const session = new LiveSession(
      this.#parts,
      {
        audio: { kind: "bare", encoding: "s16", sampleRateHertz: commonFormat.rate, channels: 1 },
        writing: { languageCode, ...readableText },
        hints: [],
        interim: false,
        fields,
      },
      input,
      { caller, signal: this.#socket.signal },
    );
    await this.#write(session, this.#language || languageCode);
  }

  /** Writes the utterances as they become final, and then all of them as one transcript. */
  async #write(session: LiveSession, language: string): Promise<void> {
    const texts: string[] = [];
    for await (const event of session.events()) {
      const text = event.kind === "final" ? (event.alternatives[0]?.text ?? "") : "";
      if (text === "") continue;
      if (texts.length === 0) await this.#socket.send("transcript-start", { language });
      const chunk = texts.length === 0 ? text : ` ${text}`;
      await this.#socket.send("transcript-chunk", { text: chunk });
      texts.push(text);
    }
    this.#socket.signal.throwIfAborted();
    await this.#socket.send("transcript", { text: texts.join(" "), language });
    if (texts.length > 0) await this.#socket.send("transcript-stop");
  }

  async #authenticate(method: SpeechMethod): Promise<Caller> {
    this.#recorded.called(recordedName(method), false);
    const { authenticator, readKey, log } = this.#parts;
    const { requestId } = this;
    const headers = new Headers({ authorization: `Bearer ${await readKey()}` });
    const origin = { address: this.#socket.address, requestId };
    try {
      return await authenticator.authenticate({ headers, url: "", origin }, method);
    } catch (error) {
      // The operator has to change the key: the client has none.
      const isOfKey =
        error instanceof ServiceError &&
        (error.code === "unauthenticated" || error.code === "permission_denied");
      if (isOfKey) log.warn({ reason: error.reason, requestId }, "wyoming.key_refused");
      throw error;
    }
  }

  #languageCode(): string {
    const { recognizer, defaultLanguage } = this.#parts;
    const violations = new Violations();
    const choice = { recognizer, mode: "live", defaultLanguage } as const;
    const languageCode = languageOf(this.#language, "language", choice, violations);
    violations.throwIfAny();
    return languageCode;
  }
}
