import { chordOf, type Chord, type KeyPress } from "./chord.ts";
import { type ChosenKeys, commandsByChord, type CommandId } from "./command-table.ts";

/**
 * Does what a command says. Returns false if it cannot be done now, so the key is passed on.
 * `isRepeat`: the key is still held, and the keyboard repeats it.
 */
export type CommandHandler = (isRepeat: boolean) => boolean;

/**
 * Runs commands by their keys. The parts of the page add what each command does while they are
 * shown; a command without a handler leaves its keys to the text and the browser.
 */
export class Commands {
  readonly #handlers = new Map<CommandId, CommandHandler[]>();
  #byChord: ReadonlyMap<Chord, CommandId> = commandsByChord({});
  /** What was pressed while commands are held, in order; undefined if they are not. */
  #held: (() => void)[] | undefined;

  setKeys(chosen: ChosenKeys): void {
    this.#byChord = commandsByChord(chosen);
  }

  /** Adds a handler, which is asked before those that were added earlier. Returns its removal. */
  add(id: CommandId, handler: CommandHandler): () => void {
    const handlers = this.#handlers.get(id) ?? [];
    handlers.unshift(handler);
    this.#handlers.set(id, handlers);
    return () => {
      const at = handlers.indexOf(handler);
      if (at >= 0) handlers.splice(at, 1);
    };
  }

  /** Runs a command, for example of a button. Returns whether it was done, or will be. */
  run(id: CommandId, isRepeat = false): boolean {
    const handlers = [...(this.#handlers.get(id) ?? [])];
    if (handlers.length === 0) return false;
    if (!this.#held) return handlers.some((handler) => handler(isRepeat));
    this.#held.push(() => this.run(id, isRepeat));
    return true;
  }

  /**
   * Keeps what is pressed from now on, for a command that waits for its code: undo must not come
   * before what it undoes. Returns the function that runs all of it, in order.
   */
  hold(): () => void {
    const held: (() => void)[] = this.#held ?? [];
    this.#held = held;
    return () => {
      if (this.#held !== held) return;
      this.#held = undefined;
      for (const runHeld of held) runHeld();
    };
  }

  /** Returns the command of a key; undefined if it has none. */
  commandOf(key: KeyPress): CommandId | undefined {
    const chord = chordOf(key);
    return chord === undefined ? undefined : this.commandOfChord(chord);
  }

  commandOfChord(chord: Chord): CommandId | undefined {
    return this.#byChord.get(chord);
  }

  /** Runs the command of a key. Returns whether there is one that was done. */
  press(key: KeyPress): boolean {
    const id = this.commandOf(key);
    return id !== undefined && this.run(id, key.repeat);
  }
}
