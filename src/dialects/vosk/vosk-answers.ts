import type { LiveEvent } from "../live-session.ts";
import type { VoskConfig } from "./read-config.ts";
import { finalText, partialText, type VoskFinal } from "./write-answers.ts";

/**
 * The answers to a client of Vosk: one for each binary message and for each reset, in their order.
 * A message is answered with the next final result that waits, or else with the newest partial one.
 * A reset waits for the results of all audio before it, and gets them in one answer.
 */
export class VoskAnswers {
  readonly #due: ("audio" | "reset")[] = [];
  readonly #finals: VoskFinal[] = [];
  #partial = "";
  /** The resets whose results have all come. */
  #settledResets = 0;

  /** Counts what the client sent. */
  expect(what: "audio" | "reset"): void {
    this.#due.push(what);
  }

  take(event: LiveEvent): void {
    switch (event.kind) {
      case "speechStart":
        break;
      case "interim":
        this.#partial = event.best.text;
        break;
      case "final":
        this.#partial = "";
        this.#finals.push(event.alternatives);
        break;
      case "finalized":
        this.#settledResets += 1;
        break;
    }
  }

  /** Returns the answers that can be given. */
  *ready(config: VoskConfig): Generator<string, void, undefined> {
    for (let [first] = this.#due; first !== undefined; [first] = this.#due) {
      if (first === "reset") {
        if (this.#settledResets === 0) return;
        this.#settledResets -= 1;
        yield this.#all(config);
      } else {
        const final = this.#finals.shift();
        yield final ? finalText([final], config) : partialText(this.#partial);
      }
      this.#due.shift();
    }
  }

  /** Returns the last answer, with all results that wait. */
  last(config: VoskConfig): string {
    return this.#all(config);
  }

  #all(config: VoskConfig): string {
    return finalText(this.#finals.splice(0), config);
  }
}
