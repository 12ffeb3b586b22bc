import type { LiveEvent } from "../live-session.ts";
import type { StreamOptions } from "./read-options.ts";
import { alternativeOf, seconds, type NamedModel } from "./write-results.ts";

export interface LiveResultsOptions extends Pick<
  StreamOptions,
  "interim" | "speechStarts" | "utteranceEndMs" | "punctuatedWords"
> {
  readonly requestId: string;
  readonly model: NamedModel;
  /** Returns milliseconds of a clock that only advances. */
  readonly now: () => number;
}

type Final = Extract<LiveEvent, { readonly kind: "final" }>;
/** Deepgram numbers channels from 0, and says how many there are. */
const channel = [0, 1];

/** The messages of a stream for the events of a session, in order. */
export class LiveResults {
  readonly #options: LiveResultsOptions;
  /** Where the next result begins: at the end of the last final one. */
  #startMs = 0;
  /** The final result that may be the answer to a Finalize. */
  #held: Final | undefined;
  #isSpeaking = false;
  /** The end of the last word, until UtteranceEnd was sent for it. */
  #lastWord: { readonly endMs: number; readonly dueAt: number } | undefined;

  constructor(options: LiveResultsOptions) {
    this.#options = options;
  }

  /** Returns the messages for an event. `isFinalizing` says whether a Finalize is unanswered. */
  *take(event: LiveEvent, isFinalizing: boolean): Generator<object, void, undefined> {
    if (event.kind === "finalized") {
      yield* this.#release({ fromFinalize: true, endMs: event.endMs });
      return;
    }
    if (this.#held) yield* this.#release({ fromFinalize: false, endMs: this.#held.endMs });
    switch (event.kind) {
      case "speechStart":
        this.#isSpeaking = true;
        yield* this.#utteranceEndBefore(event.atMs);
        if (this.#options.speechStarts) {
          yield { type: "SpeechStarted", channel, timestamp: seconds(event.atMs) };
        }
        break;
      case "interim":
        if (!this.#options.interim) break;
        yield this.#result([event.best], { endMs: event.endMs, isFinal: false });
        break;
      case "final":
        this.#isSpeaking = false;
        this.#held = event;
        // The result of a Finalize comes right before its end, so that nothing waits here.
        if (!isFinalizing) yield* this.#release({ fromFinalize: false, endMs: event.endMs });
        break;
    }
  }

  /** Returns what is left when the session has ended. */
  *end(audioMs: number): Generator<object, void, undefined> {
    if (this.#held) yield* this.#release({ fromFinalize: false, endMs: this.#held.endMs });
    yield* this.#utteranceEndBefore(audioMs);
  }

  /** Returns UtteranceEnd if the silence since the last word is long enough. */
  *listen(audioMs: number): Generator<object, void, undefined> {
    if (this.#isSpeaking || !this.#lastWord || this.#options.now() < this.#lastWord.dueAt) return;
    yield* this.#utteranceEndBefore(audioMs);
  }

  *#release({
    fromFinalize,
    endMs,
  }: {
    readonly fromFinalize: boolean;
    readonly endMs: number;
  }): Generator<object, void, undefined> {
    const final = this.#held;
    this.#held = undefined;
    const end = final?.endMs ?? Math.max(endMs, this.#startMs);
    const isSpeechFinal = final ? !final.isCut : false;
    yield this.#result(final?.alternatives ?? [], {
      endMs: end,
      isFinal: true,
      isSpeechFinal,
      fromFinalize,
    });
    this.#startMs = end;
    const word = final?.alternatives[0]?.words.at(-1);
    const { utteranceEndMs } = this.#options;
    if (!final || utteranceEndMs === undefined) return;
    const wordEndMs = word?.endMs ?? final.endMs;
    const waitedMs = final.endMs - wordEndMs;
    const dueAt = this.#options.now() + Math.max(0, utteranceEndMs - waitedMs);
    this.#lastWord = { endMs: wordEndMs, dueAt };
  }

  *#utteranceEndBefore(ms: number): Generator<object, void, undefined> {
    const { utteranceEndMs } = this.#options;
    if (!this.#lastWord || utteranceEndMs === undefined) return;
    const { endMs } = this.#lastWord;
    if (ms - endMs < utteranceEndMs) return;
    this.#lastWord = undefined;
    yield { type: "UtteranceEnd", channel, last_word_end: seconds(endMs) };
  }

  #result(
    alternatives: Final["alternatives"],
    {
      endMs,
      isFinal,
      isSpeechFinal = false,
      fromFinalize = false,
    }: {
      readonly endMs: number;
      readonly isFinal: boolean;
      readonly isSpeechFinal?: boolean;
      readonly fromFinalize?: boolean;
    },
  ): object {
    const { requestId, model, punctuatedWords: punctuated } = this.#options;
    const found = alternatives.map((each) => alternativeOf(each, { punctuated }));
    const none = { transcript: "", confidence: 0, words: [] };
    return {
      type: "Results",
      channel_index: channel,
      duration: seconds(Math.max(0, endMs - this.#startMs)),
      start: seconds(this.#startMs),
      is_final: isFinal,
      speech_final: isSpeechFinal,
      from_finalize: fromFinalize,
      channel: { alternatives: found.length > 0 ? found : [none] },
      metadata: { request_id: requestId, model_info: model.info, model_uuid: model.uuid },
    };
  }
}
