import type { ReactNode } from "react";
import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../parts/button.tsx";
import { Chip } from "../parts/chip.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { subtitlesText } from "../text/subtitles.ts";
import { useText } from "../text/language.tsx";
import { editText } from "../text/transcript-edit.ts";
import { transcriptText } from "../text/transcript.ts";
import type { SubtitlesView } from "./subtitles/use-subtitles-view.ts";
import { useFacts } from "./use-facts.ts";

/** The title of a transcript with its date, length and language, and its keywords. */
export function ReadingHead({
  transcript,
  onEdit,
  subtitles,
  find,
}: {
  readonly transcript: TranscriptJson;
  /** Begins to edit the text; undefined if the user cannot edit it, or does already. */
  readonly onEdit: (() => void) | undefined;
  /** The choice between text and subtitles; undefined while there is none. */
  readonly subtitles: Pick<SubtitlesView, "isOn" | "toggle"> | undefined;
  /** What finds a phrase in the text, if there is a text to read. */
  readonly find: ReactNode;
}) {
  const t = useText();
  const { subject = "", keywords = [] } = transcript.metadata ?? {};
  const facts = useFacts(transcript);
  return (
    <>
      <PageHead title={subject.trim() === "" ? t(transcriptText.untitled) : subject} sub={facts}>
        {find}
        {subtitles && (
          <Button aria-pressed={subtitles.isOn} onPress={subtitles.toggle}>
            {t(subtitlesText.subtitles)}
          </Button>
        )}
        {onEdit && <Button onPress={onEdit}>{t(editText.edit)}</Button>}
      </PageHead>
      {keywords.length > 0 && (
        <ul className="reading-keywords" aria-label={t(transcriptText.keywords)}>
          {[...new Set(keywords)].map((keyword) => (
            <li key={keyword}>
              <Chip text={keyword} />
            </li>
          ))}
        </ul>
      )}
      {/* On a phone the aside is below the text. */}
      <a className="reading-to-aside" href="#about">
        {t(transcriptText.toAside)}
      </a>
    </>
  );
}
