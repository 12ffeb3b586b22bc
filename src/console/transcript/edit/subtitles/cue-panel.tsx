import { type RefObject, useRef } from "react";
import { Button } from "../../../parts/button.tsx";
import { commonText } from "../../../text/common.ts";
import { useText } from "../../../text/language.tsx";
import { subtitlesText } from "../../../text/subtitles.ts";
import { transcriptText } from "../../../text/transcript.ts";
import type { Playback } from "../../playback.ts";
import type { Editor } from "../editor/editor.ts";
import { CueRow } from "./cue-row.tsx";
import type { CutText, EditedCues } from "./edited-cues.ts";
import { useCueList } from "./use-cue-list.ts";
import { useEditedCues } from "./use-edited-cues.ts";
import "./cue-panel.css";

interface PanelProps {
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  /** The element in the picture that shows the current subtitle. */
  readonly caption: RefObject<HTMLElement | null>;
  readonly languageCode: string;
}

/** The subtitles of the edited text, next to it. Choosing one places the caret at its words. */
export function CuePanel({
  limitMs,
  onClose,
  ...props
}: PanelProps & {
  /** The length of the recording in ms; Infinity if it is unknown. */
  readonly limitMs: number;
  readonly onClose: () => void;
}) {
  const t = useText();
  const { cutter, cut } = useEditedCues(props.editor, limitMs);
  return (
    <section
      className="edit-cues"
      data-region="subtitles"
      aria-label={t(subtitlesText.subtitles)}
      aria-busy={!cut}
    >
      {!cut ? (
        <p className="quiet">{t(subtitlesText.cutting)}</p>
      ) : cut.cues.length === 0 ? (
        <p className="quiet">{t(subtitlesText.none)}</p>
      ) : (
        <Cues {...props} cutter={cutter} cut={cut} />
      )}
      <Button onPress={onClose}>{t(commonText.close)}</Button>
    </section>
  );
}

function Cues({
  editor,
  playback,
  caption,
  languageCode,
  cutter,
  cut,
}: PanelProps & { readonly cutter: EditedCues; readonly cut: CutText }) {
  const t = useText();
  const list = useRef<HTMLOListElement>(null);
  const { range, choose, step, listeners } = useCueList(list, { editor, playback, caption, cut });
  const { cues, broken } = cut;
  const speakers = editor.speakers();
  const nameOf = (id: string): string =>
    (Object.hasOwn(speakers, id) ? speakers[id]?.fullName : undefined) ??
    t(transcriptText.unknownSpeaker)(id);
  return (
    <>
      <p className="edit-cues-count">
        {t(subtitlesText.count)(cues.length)}.{" "}
        {broken.length === 0 ? t(subtitlesText.allGood) : t(subtitlesText.broken)(broken.length)}
      </p>
      {broken.length > 0 && (
        <div className="edit-cues-steps">
          <Button onPress={() => step(-1)}>{t(subtitlesText.previousBroken)}</Button>
          <Button onPress={() => step(1)}>{t(subtitlesText.nextBroken)}</Button>
        </div>
      )}
      <ol className="edit-cues-list" ref={list} lang={languageCode} {...listeners}>
        {cues.slice(range.first, range.end).map((cue, index) => {
          const at = range.first + index;
          const { speakerId, startMs, lines } = cue;
          const isTurn = speakerId !== "" && speakerId !== cues[at - 1]?.speakerId;
          return (
            <CueRow
              key={at}
              at={at}
              startMs={startMs}
              lines={lines}
              speaker={isTurn ? nameOf(speakerId) : undefined}
              broken={cutter.rulesOf(cue)}
              onChoose={choose}
            />
          );
        })}
      </ol>
    </>
  );
}
