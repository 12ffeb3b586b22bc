import { chordOf, type Chord, type KeyPress } from "./chord.ts";
import { type ChosenKeys, commandsByChord, type CommandId } from "./command-table.ts";

/**
 * Does what a command says. Returns false if it cannot be done now, so the key is passed on.
 * `isRepeat`: the key is still held, and the keyboard repeats it.
 */
export type CommandHandler = (isRepeat: boolean) => boolean;

/** The commands that wait for what was pressed before them. Playing and the regions never wait. */
const later: ReadonlySet<CommandId> = new Set([
  "undo",
  "redo",
  "restoreParagraph",
  "save",
  "saveWithNote",
  "read",
]);

/**
 * Runs commands by their keys. The parts of the page add what each command does while they are
 * shown; a command without a handler leaves its keys to the text and the browser.
 */
export class Commands {
  readonly #handlers = new Map<CommandId, CommandHandler[]>();
  #byChord: ReadonlyMap<Chord, CommandId> = commandsByChord({});
  /** What waits for the code of a key, in order; undefined if nothing does. */
  #held: (() => void)[] | undefined;
  #holds = 0;

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
    if (!this.#held || !later.has(id)) return handlers.some((handler) => handler(isRepeat));
    this.#held.push(() => this.run(id, isRepeat));
    return true;
  }

  /**
   * Makes what follows wait for the code of a key: undo must not come before what it undoes.
   * Returns the function that does all of it, in order.
   */
  hold(): () => void {
    this.#held ??= [];
    this.#holds += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      if (this.#holds > 0) return;
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const act of held) act();
    };
  }

  /** Does something after what waits; at once if nothing does. */
  inOrder(act: () => void): void {
    if (this.#held) this.#held.push(act);
    else act();
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
