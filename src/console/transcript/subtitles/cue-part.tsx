import { memo } from "react";
import { brokenRules } from "../../../cues/broken-rules.ts";
import type { Cue } from "../../../cues/cue.ts";
import type { SpeakerInfoJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { useLanguage, useText } from "../../text/language.tsx";
import { clockTenths } from "../../text/numbers.ts";
import { transcriptText } from "../../text/transcript.ts";
import { ruleText } from "./rule-text.ts";

export type Speakers = Readonly<Record<string, SpeakerInfoJson>>;

interface CuePartProps {
  readonly cues: readonly Cue[];
  /** The index of the first cue among all cues. */
  readonly first: number;
  /** The speaker of the cue before the first one. */
  readonly speakerBefore: string;
  readonly speakers: Speakers;
  /** The address of the subtitles, to which seconds are appended; undefined without media. */
  readonly linkTo: string | undefined;
}

/** Some subtitles, with their speakers and times, and the rules that they break. */
export const CuePart = memo(function CuePart({
  cues,
  first,
  speakerBefore,
  speakers,
  linkTo,
}: CuePartProps) {
  const t = useText();
  const { language } = useLanguage();
  return (
    <div className="cues-part">
      {cues.map((cue, at) => {
        const { startMs, speakerId, lines } = cue;
        const time = clockTenths(language, startMs / 1000);
        const isTurn = speakerId !== "" && speakerId !== (cues[at - 1]?.speakerId ?? speakerBefore);
        const broken = brokenRules(cue);
        const about = broken.length > 0 ? { "aria-describedby": `cue-${first + at}` } : {};
        return (
          <div className="cue" key={startMs} data-start={startMs}>
            <div className="cue-margin">
              {isTurn && (
                <b className="cue-speaker">
                  {nameOf(speakers, speakerId) ?? t(transcriptText.unknownSpeaker)(speakerId)}
                </b>
              )}
              {linkTo === undefined ? (
                <span className="cue-time" tabIndex={-1} {...about}>
                  {time}
                </span>
              ) : (
                <a
                  className="cue-time"
                  href={linkTo + startMs / 1000}
                  aria-label={t(transcriptText.playFrom)(time)}
                  tabIndex={first + at === 0 ? 0 : -1}
                  {...about}
                >
                  {time}
                </a>
              )}
            </div>
            <p dir="auto">{lines.join("\n")}</p>
            {broken.length > 0 && (
              <span className="cue-broken" id={`cue-${first + at}`}>
                {broken.map((rule) => ruleText(language, rule)).join(" · ")}
              </span>
            )}
          </div>
        );
      })}
    </div>
  );
}, isSame);

/** Cues are other objects after each change of the text, so they are compared by what is shown. */
function isSame(before: CuePartProps, after: CuePartProps): boolean {
  const { cues, ...rest } = before;
  const { cues: next, ...nextRest } = after;
  return (
    cues.length === next.length &&
    rest.first === nextRest.first &&
    rest.speakerBefore === nextRest.speakerBefore &&
    rest.speakers === nextRest.speakers &&
    rest.linkTo === nextRest.linkTo &&
    cues.every((cue, at) => {
      const other = next[at];
      return (
        cue.lines === other?.lines &&
        cue.startMs === other.startMs &&
        cue.endMs === other.endMs &&
        cue.speakerId === other.speakerId
      );
    })
  );
}

/** Callers choose speaker ids, so an id may be "constructor" or a similar property name. */
function nameOf(speakers: Speakers, id: string): string | undefined {
  return Object.hasOwn(speakers, id) ? speakers[id]?.fullName : undefined;
}
