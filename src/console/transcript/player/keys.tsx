import { lazy, Suspense, useEffect, useState } from "react";
import { keep, readKept } from "../../api/kept.ts";
import { useAnnounce } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { type Phrase, useText } from "../../text/language.tsx";
import { transcriptText } from "../../text/transcript.ts";
import type { Playback } from "../playback.ts";
import { commandOf, type Command } from "../shortcuts.ts";
import { pieceOfWord, wordAt, type SpokenText } from "../spoken-text.ts";

const ShortcutSheet = lazy(() =>
  import("./shortcut-sheet.tsx").then(({ ShortcutSheet }) => ({ default: ShortcutSheet })),
);

const keptAs = "hlust.shortcuts";

/**
 * The keys that play from anywhere on the page, and the sheet that tells of them, where they can be
 * put off too.
 */
export function Keys({
  playback,
  text,
  linkTo,
}: {
  readonly playback: Playback;
  readonly text: SpokenText;
  readonly linkTo: string;
}) {
  const t = useText();
  const announce = useAnnounce();
  const [isOpen, setOpen] = useState(false);
  const [isOn, setOn] = useState(() => readKept(keptAs) !== "off");
  useEffect(() => {
    if (!isOn || isOpen) return undefined;
    const press = (event: KeyboardEvent): void => {
      const command = event.defaultPrevented ? undefined : commandOf(event);
      if (!command || isTaken(event)) return;
      event.preventDefault();
      if (command.do === "sheet") setOpen(true);
      else if (command.do === "copyLink") {
        const link = linkTo + Math.round(playback.place * 10) / 10;
        const say = (text: Phrase<string>) => () => announce(t(text));
        void navigator.clipboard
          .writeText(new URL(link, location.href).href)
          .then(say(transcriptText.linkCopied), say(transcriptText.linkNotCopied));
      } else obey(command, playback, text);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [isOn, isOpen, playback, text, linkTo, announce, t]);
  return (
    <>
      <Button look="quiet" className="player-keys" onPress={() => setOpen(true)}>
        {t(transcriptText.shortcuts)}
      </Button>
      {isOpen && (
        <Suspense>
          <ShortcutSheet
            isOn={isOn}
            onChange={(next) => {
              keep(keptAs, next ? undefined : "off");
              setOn(next);
            }}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  );
}

/**
 * Whether what has the keyboard wants the key for itself: fields to type in and choose from, and
 * what is pressed by space.
 */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=listbox]"))
    return true;
  return key === " " && target.closest("button, a, summary, [role=button]") !== null;
}

function obey(
  command: Exclude<Command, { do: "sheet" } | { do: "copyLink" }>,
  playback: Playback,
  text: SpokenText,
): void {
  switch (command.do) {
    case "toggle":
      return playback.toggle();
    case "mute":
      return playback.toggleMuted();
    case "skip":
      return playback.skip(command.by);
    case "speed":
      return playback.changeRate(command.by);
    case "tenth":
      return playback.seek((playback.state.duration * command.at) / 10);
    case "word": {
      const word = wordAt(text, playback.place) + command.by;
      return seekTo(playback, text.starts[Math.max(0, word)]);
    }
    case "segment": {
      const word = wordAt(text, playback.place);
      const piece = word < 0 ? -1 : pieceOfWord(text, word);
      return seekTo(playback, text.pieces[Math.max(0, piece + command.by)]?.start);
    }
  }
}

function seekTo(playback: Playback, seconds: number | undefined): void {
  if (seconds !== undefined) playback.seek(seconds);
}
