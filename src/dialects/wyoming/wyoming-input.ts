import { clientGone } from "../../server/client-gone.ts";
import type { LiveInput } from "../live-input.ts";
import { type ChunkAudio, readChunkFormat } from "./chunk-audio.ts";
import type { WyomingItem } from "./event-parser.ts";

type Item = IteratorResult<LiveInput, undefined>;
const none = Buffer.alloc(0);
const done = { done: true, value: undefined } as const;

export interface WyomingInputOptions {
  readonly audio: ChunkAudio;
  /** Whether the payload that comes next is audio. */
  readonly isAudio: boolean;
  /** Called for events that are not about the audio. */
  readonly onOther: (item: TextItem) => Promise<void>;
}

type TextItem = Extract<WyomingItem, { readonly kind: "event" }>;

/**
 * The audio of one transcription, as the input of a live session: up to audio-stop. Throws the
 * error of a client that is gone if the items end before.
 */
export class WyomingInput implements AsyncIterator<LiveInput, undefined> {
  readonly #items: Pick<AsyncIterator<WyomingItem, undefined>, "next">;
  readonly #options: WyomingInputOptions;
  #isAudio: boolean;
  #isOver = false;

  constructor(
    items: Pick<AsyncIterator<WyomingItem, undefined>, "next">,
    options: WyomingInputOptions,
  ) {
    this.#items = items;
    this.#options = options;
    this.#isAudio = options.isAudio;
  }

  async next(): Promise<Item> {
    while (!this.#isOver) {
      const { value: item } = await this.#items.next();
      if (!item) throw clientGone();
      const audio = item.kind === "payload" ? this.#payload(item.bytes) : await this.#event(item);
      if (audio.length > 0) return { done: false, value: audio };
    }
    return done;
  }

  #payload(bytes: Buffer): Buffer {
    return this.#isAudio ? this.#options.audio.push(bytes) : none;
  }

  /** Returns the audio that an event completes. */
  async #event(item: TextItem): Promise<Buffer> {
    const { audio, onOther } = this.#options;
    this.#isAudio = item.type === "audio-chunk";
    switch (item.type) {
      case "audio-start":
      case "audio-chunk":
        return audio.change(readChunkFormat(item.data, audio.format));
      case "audio-stop":
        this.#isOver = true;
        return audio.end();
      default:
        await onOther(item);
        return none;
    }
  }
}
