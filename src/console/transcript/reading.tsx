import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { Link, useSearch } from "wouter";
import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Empty } from "../parts/empty.tsx";
import { clockTime, longDate } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { secondsOf } from "../text/numbers.ts";
import { transcriptText } from "../text/transcript.ts";
import { TranscriptAside } from "./aside/transcript-aside.tsx";
import { Playback } from "./playback.ts";
import { keepPlace, placeIn } from "./places.ts";
import { ReadingHead } from "./reading-head.tsx";
import { spokenText, type SpokenText } from "./spoken-text.ts";
import { transcriptQuery } from "./transcript-query.ts";
import { Words } from "./words.tsx";
import "./reading.css";

const Player = lazy(() =>
  import("./player/player.tsx").then(({ Player }) => ({ default: Player })),
);

/** A transcript to read, and to hear where it has media. */
export function Reading({
  transcript,
  name,
  version,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  /**
   * The id of the version that the address names; undefined where this is what the transcript is
   * now.
   */
  readonly version: string | undefined;
}) {
  const text = useTextOf(transcript);
  const place = usePlaceInAddress();
  const { metadata, uri = "" } = transcript;
  const [playback] = useState(
    () =>
      new Playback({
        duration: secondsOf(metadata?.recordingDuration ?? undefined),
        start: place ?? placeIn(name) ?? 0,
      }),
  );
  const heard = uri === "" ? undefined : playback;
  useEffect(() => {
    if (place !== undefined && playback.place !== place) playback.seek(place);
  }, [place, playback]);
  useKeptPlace(name, heard);
  const renew = useFreshAnswer(name, version);
  const linkTo = `/console/${name}?${version === undefined ? "" : `version=${encodeURIComponent(version)}&`}t=`;
  return (
    <div className={heard ? "reading heard" : "reading"}>
      <ReadingHead transcript={transcript} />
      {version !== undefined && <EarlierVersion transcript={transcript} name={name} />}
      <div className="reading-columns">
        {text.wordCount === 0 ? (
          <NoWords />
        ) : (
          <Words
            text={text}
            speakers={metadata?.speakers ?? {}}
            languageCode={metadata?.languageCode ?? ""}
            playback={heard}
            linkTo={linkTo}
            isGoneTo={place !== undefined}
          />
        )}
        <Aside transcript={transcript} name={name} />
      </div>
      {heard && (
        <Suspense>
          <Player
            playback={heard}
            text={text}
            transcript={transcript}
            linkTo={linkTo}
            renew={renew}
          />
        </Suspense>
      )}
    </div>
  );
}

/**
 * The text of a transcript: the same as long as its version is, while its URLs are others with each
 * answer.
 */
function useTextOf({ version, segments }: TranscriptJson): SpokenText {
  const id = version?.name;
  const [shown, setShown] = useState(() => ({ id, text: spokenText(segments ?? []) }));
  if (shown.id === id) return shown.text;
  const text = spokenText(segments ?? []);
  setShown({ id, text });
  return text;
}

/** The seconds that `?t=` names. */
function usePlaceInAddress(): number | undefined {
  const named = new URLSearchParams(useSearch()).get("t");
  const seconds = Number.parseFloat(named ?? "");
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

/** How often the place is kept while it plays. */
const keepEverySeconds = 5;

/** Keeps the place where the user stops listening, for the next time. */
function useKeptPlace(name: string, playback: Playback | undefined): void {
  useEffect(() => {
    if (!playback) return undefined;
    let kept = playback.place;
    const keepNow = (): void => {
      const { duration } = playback.state;
      if (!playback.state.isBegun || kept === playback.place) return;
      kept = playback.place;
      keepPlace(name, kept, duration > 0 && kept > duration - 1);
    };
    const stop = playback.onPlace((seconds) => {
      const isDue = Math.abs(seconds - kept) >= keepEverySeconds;
      if (isDue || !playback.state.isPlaying) keepNow();
    });
    addEventListener("pagehide", keepNow);
    return () => {
      stop();
      removeEventListener("pagehide", keepNow);
      keepNow();
    };
  }, [name, playback]);
}

/** Signed URLs end: the transcript has others each time that it is read. */
function useFreshAnswer(name: string, version: string | undefined): () => Promise<TranscriptJson> {
  const queries = useQueryClient();
  return useCallback(
    () => queries.fetchQuery({ ...transcriptQuery(name, version), staleTime: 0 }),
    [queries, name, version],
  );
}

function EarlierVersion({
  transcript,
  name,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
}) {
  const t = useText();
  const { language } = useLanguage();
  const made = new Date(transcript.version?.creationTime ?? 0);
  return (
    <p className="note reading-version">
      {t(transcriptText.earlierVersion)(longDate(language, made), clockTime(made))}{" "}
      <Link to={`/${name}`}>{t(transcriptText.toCurrent)}</Link>
    </p>
  );
}

function NoWords() {
  const t = useText();
  return (
    <Empty title={t(transcriptText.noWords)}>
      <p>{t(transcriptText.noWordsNext)}</p>
    </Empty>
  );
}

function Aside({
  transcript,
  name,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
}) {
  const t = useText();
  return (
    <aside id="about" className="reading-aside" aria-label={t(transcriptText.asideName)}>
      <TranscriptAside transcript={transcript} name={name} />
    </aside>
  );
}
