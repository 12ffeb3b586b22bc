import { useMemo } from "react";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { AsideSection } from "./aside-section.tsx";
import { SpeakerRow } from "./speaker-row.tsx";
import { speakingTimes } from "./speaking-time.ts";
import "./speakers.css";

/** The speakers with their speaking times. Names are edited in place. */
export function Speakers({
  transcript,
  name,
  canChange,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly canChange: boolean;
}) {
  const t = useText();
  const { segments, metadata } = transcript;
  const speakers = useMemo(
    () => speakingTimes(segments ?? [], metadata?.speakers),
    [segments, metadata?.speakers],
  );
  return (
    <AsideSection title={t(asideText.speakers)}>
      {speakers.length === 0 ? (
        <p className="quiet">{t(asideText.noSpeakers)}</p>
      ) : (
        <ul className="speakers">
          {speakers.map((speaker) => (
            <SpeakerRow
              key={speaker.id}
              speaker={speaker}
              transcript={transcript}
              name={name}
              canChange={canChange}
            />
          ))}
        </ul>
      )}
    </AsideSection>
  );
}
