import { type RefObject, useEffect, useRef, useState } from "react";
import type { SpeakerInfoJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../parts/button.tsx";
import { TextInput } from "../../parts/text-input.tsx";
import { commonText } from "../../text/common.ts";
import { findingText as texts } from "../../text/edit-finding.ts";
import { useText } from "../../text/language.tsx";
import { scrollToPlace, visibleZone, type Zone } from "../follow.ts";
import type { Playback } from "../playback.ts";
import { type SpokenText, wordAtOffset } from "../spoken-text.ts";
import { HitList } from "./hit-list.tsx";
import { type Hit, hitAt, wordsAround } from "./hits-in-text.ts";
import { rangeOf } from "./painted-hits.ts";
import { type FoundHits, useHits } from "./use-hits.ts";
import "../edit/finding/find-panel.css";
import "./found-row.css";

export interface FindPanelProps {
  /** The element of the text, as in PlaybackHighlight. */
  readonly root: RefObject<HTMLElement | null>;
  readonly text: SpokenText;
  readonly speakers: Readonly<Record<string, SpeakerInfoJson>>;
  readonly languageCode: string;
  readonly playback: Playback | undefined;
  /** Another object gives the field the focus again. */
  readonly open: object;
  readonly onClose: () => void;
}

/** Finds a phrase in a text that is read, and lists where it is. */
export function FindPanel({ root, text, playback, open, onClose, ...row }: FindPanelProps) {
  const t = useText();
  const panel = useRef<HTMLElement>(null);
  const [phrase, setPhrase] = useState("");
  const onShow = useShownHit(root, text, { playback, panel });
  const found = useHits(root, text, { phrase, onShow });
  useEffect(() => {
    const input = panel.current?.querySelector("input");
    input?.focus();
    input?.select();
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- another object is another request
  }, [open]);
  const isFound = found.hits.paragraphs.length > 0;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys that are pressed anywhere in it
    <section
      className="find-panel"
      data-region="find"
      aria-label={t(texts.titleReading)}
      ref={panel}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        const isInField = event.target instanceof HTMLInputElement;
        if (event.key === "Escape") onClose();
        else if (event.key === "Enter" && event.shiftKey && isInField) found.go(-1);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          found.go(1);
        }}
      >
        <TextInput label={t(texts.find)} value={phrase} onChange={setPhrase} autoComplete="off" />
        <div className="find-actions">
          <Count found={found} text={text} />
          <Button isDisabled={!isFound} onPress={() => found.go(-1)}>
            {t(texts.previous)}
          </Button>
          <Button isDisabled={!isFound} onPress={() => found.go(1)}>
            {t(texts.next)}
          </Button>
          <Button look="quiet" onPress={onClose}>
            {t(commonText.close)}
          </Button>
        </div>
      </form>
      <HitList found={found} text={text} {...row} />
    </section>
  );
}

/**
 * How many places were found, or which of them is shown. It is announced, with the words of the
 * place, which screen readers do not see in the list.
 */
function Count({
  found: { phrase, hits, at },
  text: { paragraphs },
}: {
  readonly found: FoundHits;
  readonly text: SpokenText;
}) {
  const t = useText();
  const count = hits.paragraphs.length;
  const hit = hitAt(hits, at);
  const words = hit && wordsAround(paragraphs[hit.paragraph]?.text ?? "", hit).join("");
  return (
    <output className="find-count">
      {phrase.trim() !== "" &&
        (hit ? (
          <>
            <span>{t(texts.foundAt)(at + 1, count)}</span>{" "}
            <span className="unseen" dir="auto">
              {words}
            </span>
          </>
        ) : (
          <span>{count === 0 ? t(texts.none) : t(texts.found)(count)}</span>
        ))}
    </output>
  );
}

/** Returns a function that seeks the sound of a hit, and brings the hit into view. */
function useShownHit(
  root: RefObject<HTMLElement | null>,
  text: SpokenText,
  {
    playback,
    panel,
  }: { readonly playback: Playback | undefined; readonly panel: RefObject<HTMLElement | null> },
): (hit: Hit) => void {
  const scrolling = useRef<AbortController>(undefined);
  useEffect(() => () => scrolling.current?.abort(), []);
  return (hit) => {
    const start = text.starts[wordAtOffset(text, hit.paragraph, hit.from)];
    if (start !== undefined) playback?.seek(start);
    scrolling.current?.abort();
    scrolling.current = new AbortController();
    const range = root.current && rangeOf(root.current, hit);
    if (range) scrollToPlace(range, zoneNextTo(panel.current), scrolling.current.signal);
  };
}

/** How much of the height of a narrow window, above the panel, may be used at most. */
const aboveShareMax = 0.9;

/** Returns the part of the window that the panel does not cover. */
function zoneNextTo(panel: HTMLElement | null): Zone {
  const { top = 0, width = 0 } = panel?.getBoundingClientRect() ?? {};
  if (width < window.innerWidth / 2) return visibleZone;
  const bottom = Math.min(visibleZone.bottom, (aboveShareMax * top) / window.innerHeight);
  return { ...visibleZone, bottom, target: Math.min(visibleZone.target, bottom / 2) };
}
