import type { Chord } from "./chord.ts";

/** The groups in which the commands are listed. */
export type CommandGroup =
  | "playing"
  | "text"
  | "speakers"
  | "finding"
  | "checking"
  | "times"
  | "page";

interface CommandRow {
  readonly group: CommandGroup;
  /** The keys that a user has who has chosen none. */
  readonly keys: readonly Chord[];
}

/**
 * What can be done by keys while a text is edited, in the order in which it is listed. Enter,
 * Backspace, Delete and the keys that move the caret belong to the text, and cannot be changed.
 */
export const commandTable = {
  playPause: { group: "playing", keys: ["Escape", "F4", "MediaPlayPause"] },
  playFromCaret: { group: "playing", keys: ["Tab", "Ctrl+Space"] },
  playSentence: { group: "playing", keys: ["Shift+Tab"] },
  back: { group: "playing", keys: ["F1", "MediaTrackPrevious"] },
  forward: { group: "playing", keys: ["F2", "MediaTrackNext"] },
  slower: { group: "playing", keys: ["F3"] },
  faster: { group: "playing", keys: ["Shift+F3"] },
  goToTime: { group: "playing", keys: ["Ctrl+G"] },
  undo: { group: "text", keys: ["Ctrl+Z"] },
  redo: { group: "text", keys: ["Ctrl+Y", "Ctrl+Shift+Z"] },
  moveWordsBack: { group: "text", keys: ["Alt+Shift+ArrowUp"] },
  moveWordsForward: { group: "text", keys: ["Alt+Shift+ArrowDown"] },
  restoreParagraph: {
    group: "text",
    keys: ["Alt+Shift+Backspace"],
  },
  toggleSpelling: { group: "text", keys: ["Ctrl+F7"] },
  divideForNextSpeaker: {
    group: "speakers",
    keys: ["Shift+Enter"],
  },
  speaker: { group: "speakers", keys: ["F8"] },
  speakerEverywhere: { group: "speakers", keys: ["Shift+F8"] },
  find: { group: "finding", keys: ["Ctrl+F"] },
  replace: { group: "finding", keys: ["Ctrl+H"] },
  nextUnclear: { group: "finding", keys: ["F7"] },
  previousUnclear: { group: "finding", keys: ["Shift+F7"] },
  check: { group: "checking", keys: ["Ctrl+Enter"] },
  uncheck: { group: "checking", keys: ["Alt+Enter"] },
  nextUnchecked: { group: "checking", keys: ["Ctrl+Shift+Enter"] },
  startEarlier: { group: "times", keys: ["F9"] },
  startLater: { group: "times", keys: ["Shift+F9"] },
  endEarlier: { group: "times", keys: ["Ctrl+F9"] },
  endLater: { group: "times", keys: ["Ctrl+Shift+F9"] },
  markStart: { group: "times", keys: ["Alt+PageUp"] },
  markEnd: { group: "times", keys: ["Alt+PageDown"] },
  save: { group: "page", keys: ["Ctrl+S"] },
  saveWithNote: { group: "page", keys: ["Ctrl+Shift+S"] },
  read: { group: "page", keys: ["Shift+F4"] },
  toggleSubtitles: { group: "page", keys: ["Shift+F2"] },
  nextRegion: { group: "page", keys: ["F6"] },
  previousRegion: { group: "page", keys: ["Shift+F6"] },
  showKeys: { group: "page", keys: ["Shift+F1"] },
} as const satisfies Readonly<Record<string, CommandRow>>;

/** The name of a command, under which a user's keys are kept. */
export type CommandId = keyof typeof commandTable;

/** The keys that a user has chosen, by command; an empty list turns the command's keys off. */
export type ChosenKeys = Readonly<Partial<Record<CommandId, readonly Chord[]>>>;

export const commandIds = Object.keys(commandTable).filter(isCommandId);

export function isCommandId(name: string): name is CommandId {
  return Object.hasOwn(commandTable, name);
}

/**
 * The keys that always do the same: they can neither be removed nor given to another command. A
 * user who can type only by keyboard can always leave the text (WCAG 2.1.2).
 */
const fixedKeys: ReadonlyMap<Chord, CommandId> = new Map([["F6", "nextRegion"]]);

export function isFixed(chord: Chord): boolean {
  return fixedKeys.has(chord);
}

/**
 * The keys of a command: the fixed ones, and those that the user has chosen, or else the ones that
 * it has by itself.
 */
export function keysOf(id: CommandId, chosen: ChosenKeys): readonly Chord[] {
  const own = [...fixedKeys].flatMap(([chord, command]) => (command === id ? [chord] : []));
  const others = (chosen[id] ?? commandTable[id].keys).filter((chord) => !isFixed(chord));
  return [...own, ...others];
}

/**
 * The commands by their chords. If a user gives a chord to one command that another one has by
 * itself, the user's choice counts.
 */
export function commandsByChord(chosen: ChosenKeys): ReadonlyMap<Chord, CommandId> {
  const commands = new Map<Chord, CommandId>();
  const isChosen = (id: CommandId): boolean => chosen[id] !== undefined;
  const inOrder = [
    ...commandIds.filter((id) => !isChosen(id)),
    ...commandIds.filter((id) => isChosen(id)),
  ];
  for (const id of inOrder) for (const chord of keysOf(id, chosen)) commands.set(chord, id);
  return commands;
}

/**
 * The keys after a chord was given to a command: the command that had it by the user's choice or by
 * itself has it no more.
 */
export function withKey(chosen: ChosenKeys, id: CommandId, chord: Chord): ChosenKeys {
  const before = commandsByChord(chosen).get(chord);
  if (before === id) return chosen;
  const without = before && { [before]: keysOf(before, chosen).filter((key) => key !== chord) };
  return { ...chosen, ...without, [id]: [...keysOf(id, chosen), chord] };
}
