import { newId } from "../../../std/ids.ts";
import type { LiveEvent } from "../../live-session.ts";

/** A turn of speech, which is an item of the conversation. */
interface Turn {
  readonly id: string;
  /** Whether the client has discarded its audio. */
  readonly isCleared: boolean;
  readonly startMs: number;
  text: string;
  /** Whether results of its audio were sent as turns of their own. */
  isAnswered: boolean;
}

/** A message for the client, without its event_id. */
export type RealtimeMessage = { readonly type: string } & Readonly<Record<string, unknown>>;

type Messages = Generator<RealtimeMessage, void, undefined>;
type Final = Extract<LiveEvent, { readonly kind: "final" }>;

const transcription = "conversation.item.input_audio_transcription";

/**
 * The turns of a session, and the messages about them. With `detects` the service ends turns at
 * pauses, and each utterance is one; otherwise the client ends them by commits, and all utterances
 * before a commit are one. Deltas are only added to: they are of final results.
 */
export class Turns {
  /** Turns that the client has ended, and whose results have not all come. */
  readonly #ended: Turn[] = [];
  #open = newTurn(0);
  #previousId: string | null = null;
  /** Whether the client knows that the open turn has begun. */
  #hasBegun = false;
  #startMs = 0;

  /** Ends a turn by the client's commit, or discards it. Returns the messages. */
  *end(
    audioMs: number,
    { isCleared, detects }: { readonly isCleared: boolean; readonly detects: boolean },
  ): Messages {
    const turn = detects || isCleared ? newTurn(audioMs, isCleared) : this.#open;
    this.#ended.push(turn);
    if (isCleared) yield { type: "input_audio_buffer.cleared" };
    else if (!detects) yield* this.#committed(turn);
    if (isCleared || !detects) this.#open = newTurn(audioMs);
    if (isCleared) this.#hasBegun = false;
  }

  /** Returns the messages for an event. */
  *take(event: LiveEvent, detects: boolean): Messages {
    switch (event.kind) {
      case "speechStart":
        this.#startMs = event.atMs;
        break;
      case "interim":
        if (detects && event.best.text !== "" && !this.#isClearing()) yield* this.#begin();
        break;
      case "final":
        if (this.#isClearing()) break;
        if (detects) yield* this.#detected(event);
        else yield this.#added(this.#ended[0] ?? this.#open, textOf(event));
        break;
      case "finalized":
        yield* this.#settle(event.endMs, detects);
        break;
    }
  }

  /** Whether results are of audio that the client has discarded. */
  #isClearing(): boolean {
    return this.#ended[0]?.isCleared === true;
  }

  *#begin(): Messages {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const begun = { audio_start_ms: this.#startMs, item_id: this.#open.id };
    yield { type: "input_audio_buffer.speech_started", ...begun };
  }

  /** Returns the messages for an utterance, which is a turn. */
  *#detected(final: Final): Messages {
    yield* this.#begin();
    const turn = this.#open;
    const stopped = { audio_end_ms: final.endMs, item_id: turn.id };
    yield { type: "input_audio_buffer.speech_stopped", ...stopped };
    yield* this.#committed(turn);
    yield this.#added(turn, textOf(final));
    yield completed(turn, final.endMs - this.#startMs);
    this.#open = newTurn(final.endMs);
    this.#hasBegun = false;
    const [first] = this.#ended;
    if (first) first.isAnswered = true;
  }

  /** All results of the oldest ended turn have come. */
  *#settle(endMs: number, detects: boolean): Messages {
    const turn = this.#ended.shift();
    if (!turn || turn.isCleared || turn.isAnswered) return;
    if (detects) yield* this.#committed(turn);
    yield completed(turn, endMs - turn.startMs);
  }

  #added(turn: Turn, text: string): RealtimeMessage {
    const delta = `${turn.text === "" ? "" : " "}${text}`;
    turn.text += delta;
    return { type: `${transcription}.delta`, item_id: turn.id, content_index: 0, delta };
  }

  *#committed({ id }: Turn): Messages {
    const previous_item_id = this.#previousId;
    this.#previousId = id;
    const content = [{ type: "input_audio", transcript: null }];
    const about = { id, object: "realtime.item", type: "message", role: "user", content };
    const item = { ...about, status: "completed" };
    yield { type: "input_audio_buffer.committed", item_id: id, previous_item_id };
    yield { type: "conversation.item.added", previous_item_id, item };
    yield { type: "conversation.item.done", previous_item_id, item };
  }
}

function completed({ id, text }: Turn, ms: number): RealtimeMessage {
  return {
    type: `${transcription}.completed`,
    item_id: id,
    content_index: 0,
    transcript: text,
    usage: { type: "duration", seconds: Math.max(0, ms) / 1000 },
  };
}

function textOf({ alternatives }: Final): string {
  return alternatives[0]?.text ?? "";
}

function newTurn(startMs: number, isCleared = false): Turn {
  return { id: `item_${newId()}`, isCleared, startMs, text: "", isAnswered: false };
}
