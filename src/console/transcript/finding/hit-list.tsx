import { useEffect, useRef, useState } from "react";
import type { SpeakerInfoJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../parts/button.tsx";
import { findingText as texts } from "../../text/edit-finding.ts";
import { useText } from "../../text/language.tsx";
import { clockText } from "../../text/numbers.ts";
import { transcriptText } from "../../text/transcript.ts";
import { type SpokenText, wordAtOffset } from "../spoken-text.ts";
import { speakerName } from "../speaker-name.ts";
import { type Hit, hitAt, wordsAround } from "./hits-in-text.ts";
import type { FoundHits } from "./use-hits.ts";

/** How many hits are listed at first, and how many more each time. */
const listedAtOnce = 50;
/** How many hits are listed before one to which the user has gone from another part of the list. */
const listedBefore = 10;

/** Lists the hits near the one to which the user has gone, each with the words around it. */
export function HitList({
  found: { hits, at, goTo },
  text,
  ...row
}: {
  readonly found: FoundHits;
  readonly text: SpokenText;
  readonly speakers: Readonly<Record<string, SpeakerInfoJson>>;
  readonly languageCode: string;
}) {
  const t = useText();
  const [shown, setShown] = useState({ hits, from: 0, to: listedAtOnce });
  let { from, to } = shown.hits === hits ? shown : { from: 0, to: listedAtOnce };
  if (at >= 0 && (at < from || at >= to)) {
    from = Math.max(0, at - listedBefore);
    to = from + listedAtOnce;
  }
  if (shown.hits !== hits || shown.from !== from || shown.to !== to) setShown({ hits, from, to });
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- each hit that is gone to is shown
  }, [at]);
  const count = hits.paragraphs.length;
  if (count === 0) return null;
  const listed = Array.from({ length: Math.min(to, count) - from }, (_, index) => from + index);
  return (
    <ul className="find-hits" aria-label={t(texts.hits)} ref={list}>
      {from > 0 && (
        <li>
          <Button
            look="quiet"
            onPress={() => setShown({ hits, from: Math.max(0, from - listedAtOnce), to })}
          >
            {t(texts.earlier)}
          </Button>
        </li>
      )}
      {listed.map((index) => (
        <HitRow
          key={index}
          hit={hitAt(hits, index)}
          text={text}
          isCurrent={index === at}
          onPress={() => goTo(index)}
          {...row}
        />
      ))}
      {count > to && (
        <li>
          <Button look="quiet" onPress={() => setShown({ hits, from, to: to + listedAtOnce })}>
            {t(texts.more)}
          </Button>
        </li>
      )}
    </ul>
  );
}

/** A hit: its time, its speaker, and the words around it. */
function HitRow({
  hit,
  text,
  speakers,
  languageCode,
  isCurrent,
  onPress,
}: {
  readonly hit: Hit | undefined;
  readonly text: SpokenText;
  readonly speakers: Readonly<Record<string, SpeakerInfoJson>>;
  readonly languageCode: string;
  readonly isCurrent: boolean;
  readonly onPress: () => void;
}) {
  const t = useText();
  const paragraph = hit && text.paragraphs[hit.paragraph];
  if (!hit || !paragraph) return null;
  const { speaker } = paragraph;
  const seconds = text.starts[wordAtOffset(text, hit.paragraph, hit.from)] ?? paragraph.start;
  const [before, words, after] = wordsAround(paragraph.text, hit);
  return (
    <li className="found-row">
      <button
        type="button"
        className="find-hit"
        aria-current={isCurrent ? "true" : undefined}
        onClick={onPress}
      >
        <span className="found-where">
          <span className="found-time">{clockText(seconds)}</span>{" "}
          {speaker !== "" && (
            <span dir="auto">
              {speakerName(speakers, speaker) ?? t(transcriptText.unknownSpeaker)(speaker)}
            </span>
          )}{" "}
        </span>
        <span dir="auto" lang={languageCode}>
          {before}
          <mark>{words}</mark>
          {after}
        </span>
      </button>
    </li>
  );
}
