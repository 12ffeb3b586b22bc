import type { DialectSocket, SocketMessage } from "../../../server/dialect-socket.ts";
import { invalidArgument, ServiceError, shown } from "../../../std/service-error.ts";
import { finalize, type LiveInput } from "../../live-input.ts";

type Item = IteratorResult<LiveInput, undefined>;
const done = { done: true, value: undefined } as const;

export interface RealtimeInputOptions {
  /** Called for a session.update. Returns whether the audio so far has to be ended for it. */
  readonly onSession: (session: object, isBeta: boolean) => boolean;
  readonly onCommit: () => void;
  readonly onClear: () => void;
  /** Called for a message that cannot be used; the session continues. */
  readonly onFault: (error: ServiceError, eventId: string | null) => void;
}

/** The messages of a client of the Realtime API, as the input of live sessions. */
export class RealtimeInput implements AsyncIterator<LiveInput, undefined> {
  readonly #messages: AsyncIterator<SocketMessage, undefined>;
  readonly #options: RealtimeInputOptions;
  #first: Item | undefined;
  #isOver = false;
  #hasAudio = false;

  constructor(socket: Pick<DialectSocket, "messages">, options: RealtimeInputOptions) {
    this.#messages = socket.messages;
    this.#options = options;
  }

  /** Whether the client has left; otherwise a new session begins with the next item. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Waits for the first item of the next session. */
  async begin(): Promise<void> {
    this.#first = await this.next();
  }

  async next(): Promise<Item> {
    const first = this.#first;
    this.#first = undefined;
    if (first) return first;
    for (;;) {
      const message = await this.#messages.next();
      if (message.done === true) {
        this.#isOver = true;
        return done;
      }
      const item = this.#take(message.value);
      if (item) return item;
    }
  }

  #take({ data }: SocketMessage): Item | undefined {
    let eventId: string | null = null;
    try {
      const event = readEvent(data);
      eventId = typeof event.event_id === "string" ? event.event_id : null;
      return this.#itemOf(event);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.#options.onFault(error, eventId);
      return undefined;
    }
  }

  /** Returns what an event means for the audio; undefined for nothing. */
  #itemOf(event: ClientEvent): Item | undefined {
    switch (event.type) {
      case "input_audio_buffer.append":
        return this.#append(event.audio);
      case "input_audio_buffer.commit":
        if (!this.#hasAudio) throw commitEmpty();
        this.#hasAudio = false;
        this.#options.onCommit();
        return { done: false, value: finalize };
      case "input_audio_buffer.clear":
        this.#hasAudio = false;
        this.#options.onClear();
        return { done: false, value: finalize };
      case "session.update":
      case "transcription_session.update": {
        const { session } = event;
        if (typeof session !== "object" || session === null) {
          throw invalidArgument([{ field: "session", description: "is required" }]);
        }
        const isBeta = event.type === "transcription_session.update";
        return this.#options.onSession(session, isBeta) ? done : undefined;
      }
      default: {
        const description = `is ${shown(event.type)}, which a transcription session does not have`;
        throw invalidArgument([{ field: "type", description }]);
      }
    }
  }

  #append(audio: unknown): Item | undefined {
    if (typeof audio !== "string") {
      throw invalidArgument([{ field: "audio", description: "is required: base64 of samples" }]);
    }
    const value = Buffer.from(audio, "base64");
    if (value.length === 0) return undefined;
    this.#hasAudio = true;
    return { done: false, value };
  }
}

interface ClientEvent {
  readonly type: unknown;
  readonly event_id?: unknown;
  readonly audio?: unknown;
  readonly session?: unknown;
}

function readEvent(data: Buffer): ClientEvent {
  try {
    const event: unknown = JSON.parse(data.toString());
    if (typeof event === "object" && event !== null && "type" in event) return event;
  } catch {
    // The error below names what an event must be.
  }
  throw invalidArgument([{ field: "event", description: "must be a JSON object with a type" }]);
}

/** Clients know this code, and some commit a buffer to which they have added nothing. */
function commitEmpty(): ServiceError {
  const problem = "the input audio buffer is empty: append audio before a commit";
  return new ServiceError("invalid_argument", problem, {
    reason: "INPUT_AUDIO_BUFFER_COMMIT_EMPTY",
  });
}
