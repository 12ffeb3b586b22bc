import { redo, undo } from "prosemirror-history";
import { useEffect, useState } from "react";
import type { MediaKeys, Playback } from "../../playback.ts";
import { isUsedByTarget } from "../../../parts/single-keys.ts";
import { moveWordsBack, moveWordsForward } from "../editor/commands.ts";
import type { Editor } from "../editor/editor.ts";
import { paragraphAt } from "../editor/places.ts";
import { EditPlayback } from "../playing/edit-playback.ts";
import { sentenceStart } from "../playing/sentence.ts";
import { type Chord, chordOf } from "./chord.ts";
import { commandIds, type CommandId } from "./command-table.ts";
import { type CommandHandler, Commands } from "./commands.ts";
import { focusRegion } from "./regions.ts";
import { activeKeys, type EditSettings } from "./settings.ts";

/** Returns the commands of an editor, to which other parts of the page add theirs. */
export function useCommands(
  editor: Editor | undefined,
  playback: Playback | undefined,
  settings: EditSettings,
): Commands {
  const [commands] = useState(() => new Commands());
  const [playing, setPlaying] = useState<EditPlayback>();
  useEffect(() => {
    if (!playback) return undefined;
    const opened = new EditPlayback(playback, settings);
    setPlaying(opened);
    return () => opened[Symbol.dispose]();
    // The settings follow below; a new playback begins with the current ones.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [playback]);
  useEffect(() => {
    playing?.setSettings(settings);
    commands.setKeys(activeKeys(settings));
  }, [commands, playing, settings]);
  useEffect(() => (editor ? addTextCommands(commands, editor) : undefined), [commands, editor]);
  useEffect(
    () =>
      editor && playback && playing
        ? addPlayingCommands(commands, { editor, playback, playing })
        : undefined,
    [commands, editor, playback, playing],
  );
  useEffect(() => (editor ? listen(commands, editor) : undefined), [commands, editor]);
  return commands;
}

/** Adds a handler of a command while a component is shown. */
export function useCommand(commands: Commands, id: CommandId, handler: CommandHandler): void {
  useEffect(() => commands.add(id, handler), [commands, id, handler]);
}

function addTextCommands(commands: Commands, editor: Editor): () => void {
  return addAll(commands, {
    undo: () => editor.run(undo),
    redo: () => editor.run(redo),
    moveWordsBack: () => editor.run(moveWordsBack(editor.base)),
    moveWordsForward: () => editor.run(moveWordsForward(editor.base)),
    nextRegion: () => focusRegion(1),
    previousRegion: () => focusRegion(-1),
  });
}

function addPlayingCommands(
  commands: Commands,
  {
    editor,
    playback,
    playing,
  }: { readonly editor: Editor; readonly playback: Playback; readonly playing: EditPlayback },
): () => void {
  const typed = (): void => playing.typed();
  editor.view.dom.addEventListener("beforeinput", typed);
  const stopMediaKeys = playback.replaceMediaKeys(mediaKeysOf(commands, playing));
  const remove = addAll(commands, {
    playPause: always(() => playing.toggle()),
    playFromCaret: always(() => {
      if (playing.isPlaying) playing.pause();
      else playing.playFrom(editor.caretTime());
    }),
    playSentence: always(() => playing.playFrom(sentenceTime(editor, playback))),
    back: always(() => playing.skip(-1)),
    forward: always(() => playing.skip(1)),
    slower: always(() => playing.changeRate(-1)),
    faster: always(() => playing.changeRate(1)),
  });
  return () => {
    remove();
    stopMediaKeys();
    editor.view.dom.removeEventListener("beforeinput", typed);
  };
}

/**
 * Returns what media keys do that the browser does not pass to the page as keys: the commands that
 * the user has chosen for them. A device that asks for a pause twice gets one.
 */
function mediaKeysOf(commands: Commands, playing: EditPlayback): MediaKeys {
  const toggle = (isWanted: boolean): void => {
    const id = commands.commandOfChord("MediaPlayPause") ?? "playPause";
    if (id !== "playPause") commands.run(id);
    else if (playing.isPlaying !== isWanted) playing.toggle();
  };
  const move = (chord: Chord, direction: 1 | -1): void => {
    const id = commands.commandOfChord(chord);
    if (id === undefined) playing.skip(direction);
    else commands.run(id);
  };
  return {
    play: () => toggle(true),
    pause: () => toggle(false),
    previous: () => move("MediaTrackPrevious", -1),
    next: () => move("MediaTrackNext", 1),
    back: (seconds) => playing.skip(-1, seconds),
    forward: (seconds) => playing.skip(1, seconds),
  };
}

/** Returns when the sentence that is played, or while paused the one at the caret, begins. */
function sentenceTime(editor: Editor, playback: Playback): number {
  const { doc } = editor.state;
  const caret = playback.state.isPlaying
    ? editor.places.caretAt(doc, playback.place)
    : editor.caret();
  const text = paragraphAt(doc, caret.paragraph)?.node.textContent ?? "";
  return editor.places.timeAt(doc, { ...caret, offset: sentenceStart(text, caret.offset) });
}

/** Returns a handler of a command that can always be done. */
function always(act: () => void): CommandHandler {
  return () => {
    act();
    return true;
  };
}

function addAll(
  commands: Commands,
  handlers: Readonly<Partial<Record<CommandId, CommandHandler>>>,
): () => void {
  const removals = commandIds.flatMap((id) => {
    const handler = handlers[id];
    return handler ? [commands.add(id, handler)] : [];
  });
  return () => removals.forEach((remove) => remove());
}

/**
 * Passes keys to the commands: all of them in the text; elsewhere on the page those that no control
 * uses itself.
 */
function listen(commands: Commands, editor: Editor): () => void {
  const remove = editor.addKeys((event) => commands.press(event));
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || editor.view.dom.contains(asNode(event.target))) return;
    const chord = chordOf(event) ?? "";
    const isForPage = /(?:^|\+)F\d+$|^Media/.test(chord);
    if (
      (!isForPage && (isUsedByTarget(event) || !/^(?:Ctrl|Alt)\+/.test(chord))) ||
      isInDialog(event)
    )
      return;
    if (commands.press(event)) event.preventDefault();
  };
  addEventListener("keydown", onKey);
  return () => {
    remove();
    removeEventListener("keydown", onKey);
  };
}

function asNode(target: EventTarget | null): Node | null {
  return target instanceof Node ? target : null;
}

function isInDialog({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest("[role=dialog]") !== null;
}
