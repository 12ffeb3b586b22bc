import {
  commandIds,
  isCommandId,
  type ChosenKeys,
  type CommandId,
  keysOf,
} from "./command-table.ts";
import type { Chord } from "./chord.ts";

/** What playback does while the user types. */
export type WhileTyping = "play" | "pause" | "slow";

/** What a user has chosen for editing, the same in each browser (docs/console.md). */
export interface EditSettings {
  readonly keys: ChosenKeys;
  /** How far playback jumps back when it pauses, in seconds: 0 to 5. */
  readonly jumpBackSeconds: number;
  readonly whileTyping: WhileTyping;
  /** Whether Tab and Shift+Tab are commands; otherwise they move the focus. */
  readonly tabPlays: boolean;
  readonly checksSpelling: boolean;
  /** A word is unclear if its confidence is below this; 0 turns unclear words off. */
  readonly unclearBelow: number;
  /** Whether unclear words are underlined in the text. */
  readonly underlinesUnclear: boolean;
}

export const defaultSettings: EditSettings = {
  keys: {},
  jumpBackSeconds: 1,
  whileTyping: "play",
  tabPlays: true,
  checksSpelling: true,
  unclearBelow: 0,
  underlinesUnclear: false,
};

/** The user's keys, without Tab and Shift+Tab if these move the focus. */
export function activeKeys({ keys, tabPlays }: EditSettings): ChosenKeys {
  if (tabPlays) return keys;
  const chords = (id: CommandId) =>
    keysOf(id, keys).filter((chord) => chord !== "Tab" && chord !== "Shift+Tab");
  return Object.fromEntries(commandIds.map((id) => [id, chords(id)]));
}

/** The largest number of keys of one command, and the longest name of a chord. */
const keysMax = 8;
const chordCharsMax = 40;

/**
 * Reads settings that this version of the console or another one has kept. Parts that it does not
 * understand have their default.
 */
export function readSettings(kept: unknown): EditSettings {
  const value = fieldsOf(kept);
  const { jumpBackSeconds, whileTyping, unclearBelow } = value;
  const isOn = (name: "tabPlays" | "checksSpelling" | "underlinesUnclear"): boolean => {
    const found = value[name];
    return typeof found === "boolean" ? found : defaultSettings[name];
  };
  return {
    keys: readKeys(value["keys"]),
    jumpBackSeconds: within(jumpBackSeconds, 5) ?? defaultSettings.jumpBackSeconds,
    whileTyping:
      whileTyping === "pause" || whileTyping === "slow" || whileTyping === "play"
        ? whileTyping
        : defaultSettings.whileTyping,
    tabPlays: isOn("tabPlays"),
    checksSpelling: isOn("checksSpelling"),
    unclearBelow: within(unclearBelow, 1) ?? defaultSettings.unclearBelow,
    underlinesUnclear: isOn("underlinesUnclear"),
  };
}

function readKeys(kept: unknown): ChosenKeys {
  const keys: Partial<Record<CommandId, readonly Chord[]>> = {};
  for (const [id, chords] of Object.entries(fieldsOf(kept))) {
    if (!isCommandId(id) || !Array.isArray(chords)) continue;
    keys[id] = chords.filter(isChord).slice(0, keysMax);
  }
  return keys;
}

function isChord(value: unknown): value is Chord {
  return typeof value === "string" && value !== "" && value.length <= chordCharsMax;
}

function within(value: unknown, max: number): number | undefined {
  return typeof value === "number" && value >= 0 && value <= max ? value : undefined;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
