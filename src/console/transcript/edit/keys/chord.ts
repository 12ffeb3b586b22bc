/**
 * A key with the modifiers that are held with it, such as "Ctrl+S", "Shift+F6" or "Enter". "Ctrl"
 * stands for the command key as well, so that a Mac has the same shortcuts.
 */
export type Chord = string;

/** The part of a key event that determines the chord, and whether the key is held. */
export interface KeyPress {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly isComposing: boolean;
  readonly repeat: boolean;
  getModifierState(name: "AltGraph"): boolean;
}

const withoutMeaning: ReadonlySet<string> = new Set(
  "Alt AltGraph CapsLock Control Dead Fn Hyper Meta NumLock Process Shift Super Unidentified".split(
    " ",
  ),
);

/**
 * Returns the chord of a key, or undefined if the key belongs to the text: while characters are
 * composed, for dead keys, and with AltGr, which Windows reports as Ctrl and Alt.
 */
export function chordOf(press: KeyPress): Chord | undefined {
  const isCtrl = press.ctrlKey || press.metaKey;
  if (press.isComposing || withoutMeaning.has(press.key)) return undefined;
  if (press.getModifierState("AltGraph") || (isCtrl && press.altKey)) return undefined;
  const names = [isCtrl && "Ctrl", press.altKey && "Alt", press.shiftKey && "Shift", nameOf(press)];
  return names.filter((name) => name !== false).join("+");
}

/**
 * Digits are named by their place on the keyboard, since Shift makes other characters of them;
 * letters by what they type, since layouts differ.
 */
function nameOf({ key, code }: KeyPress): string {
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(code)?.[1];
  if (digit !== undefined && key.length === 1) return digit;
  if (/^F[0-9]{1,2}$/.test(code)) return code;
  if (key === " ") return "Space";
  return key.length === 1 ? key.toUpperCase() : key;
}

const plainNames =
  /^(?:F[0-9]{1,2}|Escape|Tab|Insert|Pause|ScrollLock|ContextMenu|Media\w+|Audio\w+|Browser\w+|Launch\w+)$/;
/** The keys that move in the text or change it, on their own or with Shift. */
const textKeys = /^(?:Enter|Backspace|Delete|Space|Arrow\w+|Home|End|Page\w+)$/;
/** The chords that browsers keep for themselves, or that only the text can use. */
const taken: ReadonlySet<Chord> = new Set(
  "Ctrl+A Ctrl+C Ctrl+V Ctrl+X Ctrl+N Ctrl+T Ctrl+W Ctrl+Shift+N Ctrl+Shift+T Ctrl+Shift+W".split(
    " ",
  ),
);

/** Why a chord cannot be chosen for a command; undefined if it can. */
export function problemOf(chord: Chord): "types" | "taken" | undefined {
  if (taken.has(chord)) return "taken";
  const names = chord.split("+");
  const name = names.at(-1) ?? "";
  const hasModifier = names.includes("Ctrl") || names.includes("Alt");
  if (plainNames.test(name)) return undefined;
  if (textKeys.test(name)) {
    const moves = /^(?:Arrow\w+|Home|End|Page\w+)$/.test(name);
    // Ctrl with an arrow moves by a word, and Shift selects.
    if (moves) return names.includes("Alt") ? undefined : "types";
    return hasModifier || (name === "Enter" && names.includes("Shift")) ? undefined : "types";
  }
  return hasModifier ? undefined : "types";
}
