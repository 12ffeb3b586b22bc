import {
  joinUtterances,
  type KeptOutputs,
  type UtteranceOutputs,
} from "../protocol/kept-outputs.ts";

/**
 * The outputs of one recognition. Those of an utterance count once the commit that covers it has
 * arrived, since a lost process may otherwise report it twice.
 */
export class CollectedOutputs {
  readonly #utterances: UtteranceOutputs[] = [];
  #uncommitted: UtteranceOutputs[] = [];
  #model: string | undefined;
  #isMixed = false;

  /** Begins with the model of a process, after each loss of the one before. */
  begin(model: string | undefined): void {
    this.#uncommitted = [];
    this.#isMixed ||= this.#model !== undefined && this.#model !== model;
    this.#model = model;
  }

  add(utterance: UtteranceOutputs): void {
    this.#uncommitted.push(utterance);
  }

  commit(): void {
    this.#utterances.push(...this.#uncommitted.splice(0));
  }

  /** Returns all outputs; undefined if they are not those of one model. */
  end(): KeptOutputs | undefined {
    if (this.#model === undefined || this.#isMixed) return undefined;
    return { model: this.#model, bytes: joinUtterances(this.#utterances) };
  }
}
