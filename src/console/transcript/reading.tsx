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
import { placeIn, savePlace } from "./places.ts";
import { ReadingHead } from "./reading-head.tsx";
import { spokenText, type SpokenText } from "./spoken-text.ts";
import { transcriptQuery } from "./transcript-query.ts";
import { Words } from "./words.tsx";
import "./reading.css";

const Player = lazy(() =>
  import("./player/player.tsx").then(({ Player }) => ({ default: Player })),
);

/** A transcript to read, and to play if it has media. */
export function Reading({
  transcript,
  name,
  version,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  /** The id of the version in the address; undefined for the current version. */
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
  const playable = uri === "" ? undefined : playback;
  useEffect(() => {
    if (place !== undefined && playback.place !== place) playback.seek(place);
  }, [place, playback]);
  useSavedPlace(name, playable);
  const renew = useRenewal(name, version);
  const linkTo = `/console/${name}?${version === undefined ? "" : `version=${encodeURIComponent(version)}&`}t=`;
  return (
    <div className={playable ? "reading playable" : "reading"}>
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
            playback={playable}
            linkTo={linkTo}
            startsAtPlace={place !== undefined}
          />
        )}
        <Aside transcript={transcript} name={name} />
      </div>
      {playable && (
        <Suspense>
          <Player
            playback={playable}
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
 * The text of a transcript. The same version always returns the same object, although each response
 * has new URLs.
 */
function useTextOf({ version, segments }: TranscriptJson): SpokenText {
  const id = version?.name;
  const [shown, setShown] = useState(() => ({ id, text: spokenText(segments ?? []) }));
  if (shown.id === id) return shown.text;
  const text = spokenText(segments ?? []);
  setShown({ id, text });
  return text;
}

/** The position in the address, in seconds (`?t=`). */
function usePlaceInAddress(): number | undefined {
  const named = new URLSearchParams(useSearch()).get("t");
  const seconds = Number.parseFloat(named ?? "");
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

/** How often the place is saved during playback. */
const saveEverySeconds = 5;

/** Saves the place where the user stops listening, for the next time. */
function useSavedPlace(name: string, playback: Playback | undefined): void {
  useEffect(() => {
    if (!playback) return undefined;
    let saved = playback.place;
    const save = (): void => {
      const { duration } = playback.state;
      if (!playback.state.isBegun || saved === playback.place) return;
      saved = playback.place;
      savePlace(name, saved, duration > 0 && saved > duration - 1);
    };
    const stop = playback.onPlace((seconds) => {
      const isDue = Math.abs(seconds - saved) >= saveEverySeconds;
      if (isDue || !playback.state.isPlaying) save();
    });
    addEventListener("pagehide", save);
    return () => {
      stop();
      removeEventListener("pagehide", save);
      save();
    };
  }, [name, playback]);
}

/** Fetches the transcript again to get new URLs, because signed URLs expire. */
function useRenewal(name: string, version: string | undefined): () => Promise<TranscriptJson> {
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
