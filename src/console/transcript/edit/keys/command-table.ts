import { editKeysText as texts } from "../../../text/edit-keys.ts";
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
  readonly text: { readonly is: string; readonly en: string };
  /** The keys that a user has who has chosen none. */
  readonly keys: readonly Chord[];
}

/**
 * What can be done by keys while a text is edited, in the order in which it is listed. Enter,
 * Backspace, Delete and the keys that move the caret belong to the text, and cannot be changed.
 */
export const commandTable = {
  playPause: { group: "playing", text: texts.playPause, keys: ["Escape", "F4", "MediaPlayPause"] },
  playFromCaret: { group: "playing", text: texts.playFromCaret, keys: ["Tab", "Ctrl+Space"] },
  playSentence: { group: "playing", text: texts.playSentence, keys: ["Shift+Tab"] },
  back: { group: "playing", text: texts.back, keys: ["F1", "MediaTrackPrevious"] },
  forward: { group: "playing", text: texts.forward, keys: ["F2", "MediaTrackNext"] },
  slower: { group: "playing", text: texts.slower, keys: ["F3"] },
  faster: { group: "playing", text: texts.faster, keys: ["Shift+F3"] },
  goToTime: { group: "playing", text: texts.goToTime, keys: ["Ctrl+G"] },
  undo: { group: "text", text: texts.undo, keys: ["Ctrl+Z"] },
  redo: { group: "text", text: texts.redo, keys: ["Ctrl+Y", "Ctrl+Shift+Z"] },
  moveWordsBack: { group: "text", text: texts.moveWordsBack, keys: ["Alt+Shift+ArrowUp"] },
  moveWordsForward: { group: "text", text: texts.moveWordsForward, keys: ["Alt+Shift+ArrowDown"] },
  restoreParagraph: {
    group: "text",
    text: texts.restoreParagraph,
    keys: ["Alt+Shift+Backspace"],
  },
  toggleSpelling: { group: "text", text: texts.toggleSpelling, keys: ["Ctrl+F7"] },
  divideForNextSpeaker: {
    group: "speakers",
    text: texts.divideForNextSpeaker,
    keys: ["Shift+Enter"],
  },
  speaker: { group: "speakers", text: texts.speaker, keys: ["F8"] },
  speakerEverywhere: { group: "speakers", text: texts.speakerEverywhere, keys: ["Shift+F8"] },
  find: { group: "finding", text: texts.find, keys: ["Ctrl+F"] },
  replace: { group: "finding", text: texts.replace, keys: ["Ctrl+H"] },
  nextUnclear: { group: "finding", text: texts.nextUnclear, keys: ["F7"] },
  previousUnclear: { group: "finding", text: texts.previousUnclear, keys: ["Shift+F7"] },
  check: { group: "checking", text: texts.check, keys: ["Ctrl+Enter"] },
  uncheck: { group: "checking", text: texts.uncheck, keys: ["Alt+Enter"] },
  nextUnchecked: { group: "checking", text: texts.nextUnchecked, keys: ["Ctrl+Shift+Enter"] },
  startEarlier: { group: "times", text: texts.startEarlier, keys: ["F9"] },
  startLater: { group: "times", text: texts.startLater, keys: ["Shift+F9"] },
  endEarlier: { group: "times", text: texts.endEarlier, keys: ["Ctrl+F9"] },
  endLater: { group: "times", text: texts.endLater, keys: ["Ctrl+Shift+F9"] },
  markStart: { group: "times", text: texts.markStart, keys: ["Alt+PageUp"] },
  markEnd: { group: "times", text: texts.markEnd, keys: ["Alt+PageDown"] },
  save: { group: "page", text: texts.save, keys: ["Ctrl+S"] },
  saveWithNote: { group: "page", text: texts.saveWithNote, keys: ["Ctrl+Shift+S"] },
  toggleSubtitles: { group: "page", text: texts.toggleSubtitles, keys: ["Shift+F2"] },
  nextRegion: { group: "page", text: texts.nextRegion, keys: ["F6"] },
  previousRegion: { group: "page", text: texts.previousRegion, keys: ["Shift+F6"] },
  showKeys: { group: "page", text: texts.showKeys, keys: ["Shift+F1"] },
} as const satisfies Readonly<Record<string, CommandRow>>;

/** The name of a command, under which a user's keys are kept. */
export type CommandId = keyof typeof commandTable;

/** The keys that a user has chosen, by command; an empty list turns the command's keys off. */
export type ChosenKeys = Readonly<Partial<Record<CommandId, readonly Chord[]>>>;

export const commandIds = Object.keys(commandTable).filter(isCommandId);

const groupTitles = {
  playing: texts.groupPlaying,
  text: texts.groupText,
  speakers: texts.groupSpeakers,
  finding: texts.groupFinding,
  checking: texts.groupChecking,
  times: texts.groupTimes,
  page: texts.groupPage,
} as const satisfies Readonly<Record<CommandGroup, { readonly is: string; readonly en: string }>>;

/** The groups with their commands, in the order in which they are listed. */
export const commandGroups = Object.entries(groupTitles).map(([group, title]) => {
  return { title, commands: commandIds.filter((id) => commandTable[id].group === group) };
});

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
