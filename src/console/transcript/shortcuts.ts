import { transcriptText as texts } from "../text/transcript.ts";

/** The effect of a key on the playback. */
export type Command =
  | { readonly do: "toggle" | "mute" }
  | { readonly do: "sheet" }
  | { readonly do: "copyLink" }
  /** `by` is the number of seconds, forward or back. */
  | { readonly do: "skip"; readonly by: number }
  | { readonly do: "word" | "segment" | "speed"; readonly by: 1 | -1 }
  | { readonly do: "tenth"; readonly at: number };

/**
 * The part of a key event that determines the command. AltGr is for typing letters, so a key
 * pressed with it is never a command.
 */
export interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  getModifierState(name: "AltGraph"): boolean;
}

const commands: Readonly<Record<string, Command>> = {
  " ": { do: "toggle" },
  k: { do: "toggle" },
  j: { do: "skip", by: -5 },
  l: { do: "skip", by: 5 },
  ArrowLeft: { do: "skip", by: -5 },
  ArrowRight: { do: "skip", by: 5 },
  J: { do: "skip", by: -1 },
  L: { do: "skip", by: 1 },
  "shift ArrowLeft": { do: "word", by: -1 },
  "shift ArrowRight": { do: "word", by: 1 },
  ArrowUp: { do: "segment", by: -1 },
  ArrowDown: { do: "segment", by: 1 },
  "<": { do: "speed", by: -1 },
  ">": { do: "speed", by: 1 },
  m: { do: "mute" },
  c: { do: "copyLink" },
  "?": { do: "sheet" },
};

/** The command of a key; undefined if it has none. */
export function commandOf(key: Key): Command | undefined {
  if (key.ctrlKey || key.metaKey || key.altKey || key.getModifierState("AltGraph"))
    return undefined;
  if (/^[0-9]$/.test(key.key) && !key.shiftKey) return { do: "tenth", at: Number(key.key) };
  const isNamed = key.key.length > 1 || key.key === " ";
  const name = key.shiftKey && isNamed ? `shift ${key.key}` : key.key;
  return commands[name];
}

/** The lines of the shortcut sheet: what each shortcut does, and its keys as they are shown. */
export const sheetLines = [
  { text: texts.keyToggle, keys: [texts.space, "K"] },
  { text: texts.keyBack, keys: ["J", "←"] },
  { text: texts.keyOn, keys: ["L", "→"] },
  { text: texts.keyBackOne, keys: ["⇧ J"] },
  { text: texts.keyOnOne, keys: ["⇧ L"] },
  { text: texts.keyWordBack, keys: ["⇧ ←"] },
  { text: texts.keyWordOn, keys: ["⇧ →"] },
  { text: texts.keySegmentBack, keys: ["↑"] },
  { text: texts.keySegmentOn, keys: ["↓"] },
  { text: texts.keySlower, keys: ["<"] },
  { text: texts.keyFaster, keys: [">"] },
  { text: texts.keyTenths, keys: ["0–9"] },
  { text: texts.keyMute, keys: ["M"] },
  { text: texts.keyFind, keys: ["F"] },
  { text: texts.keyEdit, keys: ["E"] },
  { text: texts.keyCopy, keys: ["C"] },
  { text: texts.keySheet, keys: ["?"] },
] as const;
