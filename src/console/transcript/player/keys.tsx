import { useEffect, useState } from "react";
import { useSingleKeys } from "../../api/use-single-keys.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { isUsedByTarget } from "../../parts/single-keys.ts";
import { loadLater } from "../../parts/load-later.tsx";
import { type Phrase, useText } from "../../text/language.tsx";
import { transcriptText } from "../../text/transcript.ts";
import type { Playback } from "../playback.ts";
import { commandOf, type Command } from "../shortcuts.ts";
import { paragraphOfWord, wordAt, type SpokenText } from "../spoken-text.ts";

const ShortcutSheet = loadLater(() =>
  import("./shortcut-sheet.tsx").then(({ ShortcutSheet }) => ShortcutSheet),
);

/** The keyboard shortcuts of the page, and the sheet that lists them and can turn them off. */
export function Keys({
  playback,
  text,
  linkTo,
  isEditing,
}: {
  readonly isEditing: boolean;
  readonly playback: Playback;
  readonly text: SpokenText;
  readonly linkTo: string;
}) {
  const t = useText();
  const notify = useNotify();
  const [isOpen, setOpen] = useState(false);
  const { isOn, change, error } = useSingleKeys();
  useEffect(() => {
    if (!isOn || isOpen) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      const command = event.defaultPrevented ? undefined : commandOf(event);
      if (!command || isUsedByTarget(event)) return;
      event.preventDefault();
      if (command.do === "sheet") setOpen(true);
      else if (command.do === "copyLink") {
        const link = linkTo + Math.round(playback.place * 10) / 10;
        const announcing = (text: Phrase<string>) => () => notify(t(text));
        void navigator.clipboard
          .writeText(new URL(link, location.href).href)
          .then(announcing(transcriptText.linkCopied), announcing(transcriptText.linkNotCopied));
      } else run(command, playback, text);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isOn, isOpen, playback, text, linkTo, notify, t]);
  return (
    <>
      <Button look="quiet" className="player-keys" onPress={() => setOpen(true)}>
        {t(transcriptText.shortcuts)}
      </Button>
      {isOpen && (
        <ShortcutSheet
          isEditing={isEditing}
          isOn={isOn}
          error={error}
          onChange={change}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function run(
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
      const paragraph = word < 0 ? -1 : paragraphOfWord(text, word);
      return seekTo(playback, text.paragraphs[Math.max(0, paragraph + command.by)]?.start);
    }
  }
}

function seekTo(playback: Playback, seconds: number | undefined): void {
  if (seconds !== undefined) playback.seek(seconds);
}
