import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import type { TranscriptJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../../parts/button.tsx";
import { loadLater } from "../../../parts/load-later.tsx";
import { useText } from "../../../text/language.tsx";
import { secondsOf } from "../../../text/numbers.ts";
import { subtitlesText } from "../../../text/subtitles.ts";
import type { Playback } from "../../playback.ts";
import type { Editor } from "../editor/editor.ts";
import type { Commands } from "../keys/commands.ts";
import { useCommand } from "../keys/use-commands.ts";
import { restoreScroll, type ScrollPlace, scrollPlaceOf } from "../scroll-place.ts";

const CuePanel = loadLater(() => import("./cue-panel.tsx").then(({ CuePanel }) => CuePanel));

/** The button of the subtitles of the edited text, and their panel next to the text. */
export function EditSubtitles({
  editor,
  playback,
  commands,
  transcript,
  caption,
}: {
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  readonly commands: Commands;
  readonly transcript: TranscriptJson;
  /** The element in the picture that shows the current subtitle. */
  readonly caption: RefObject<HTMLElement | null>;
}) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const place = useRef<ScrollPlace>(undefined);
  const toggle = useCallback(() => {
    // The text has another width next to the panel, and stays where it is.
    place.current = scrollPlaceOf(editor.view.dom);
    setOpen((before) => !before);
    return true;
  }, [editor]);
  useLayoutEffect(() => {
    if (place.current) restoreScroll(editor.view.dom, place.current);
    place.current = undefined;
  });
  useCommand(commands, "toggleSubtitles", toggle);
  const side = isOpen ? document.querySelector(".reading-side") : null;
  const { languageCode = "", recordingDuration } = transcript.metadata ?? {};
  const seconds = secondsOf(recordingDuration ?? undefined);
  return (
    <>
      <Button look="quiet" aria-pressed={isOpen} onPress={toggle}>
        {t(subtitlesText.subtitles)}
      </Button>
      {side &&
        createPortal(
          <CuePanel
            editor={editor}
            playback={playback}
            caption={caption}
            languageCode={languageCode}
            limitMs={recordingDuration ? Math.floor(seconds * 1000) : Infinity}
            onClose={() => {
              toggle();
              editor.view.focus();
            }}
          />,
          side,
        )}
    </>
  );
}
