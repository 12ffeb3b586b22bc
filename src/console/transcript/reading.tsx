import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef } from "react";
import { Link } from "wouter";
import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { useSession } from "../api/use-session.ts";
import { Empty } from "../parts/empty.tsx";
import { clockTime, longDate } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { transcriptText } from "../text/transcript.ts";
import { TranscriptAside } from "./aside/transcript-aside.tsx";
import { ElsewhereNote } from "./edit/presence/elsewhere-note.tsx";
import { scrollPlaceOf } from "./edit/scroll-place.ts";
import { type Editing, useEditing } from "./edit/use-editing.ts";
import { UnopenedNote } from "./edit/saving/unopened-note.tsx";
import { FindInText } from "./finding/find-in-text.tsx";
import { Media } from "./media.tsx";
import type { Playback } from "./playback.ts";
import { placeIn, savePlace } from "./places.ts";
import { People } from "./presence/people.tsx";
import type { Reader } from "./presence/presence-reporter.ts";
import { type Presence, usePresence } from "./presence/use-presence.ts";
import { ReadText } from "./read-text.tsx";
import { ReadingFrame } from "./reading-frame.tsx";
import { ReadingHead } from "./reading-head.tsx";
import type { SpokenText } from "./spoken-text.ts";
import { type SubtitlesView, useSubtitlesView } from "./subtitles/use-subtitles-view.ts";
import { transcriptQuery } from "./transcript-query.ts";
import { usePicture } from "./use-picture.ts";
import { useRoomBelow } from "./use-room-below.ts";
import { usePlaceInAddress, usePlaybackOf, useTextOf } from "./use-reading.ts";

interface ReadingProps {
  readonly transcript: TranscriptJson;
  readonly name: string;
  /** The id of the version in the address; undefined for the current version. */
  readonly version: string | undefined;
}

/** A transcript to read, and to play if it has media. */
export function Reading({ transcript, name, version }: ReadingProps) {
  const text = useTextOf(transcript);
  const place = usePlaceInAddress();
  const { uri = "" } = transcript;
  const { speakers = {}, languageCode = "" } = transcript.metadata ?? {};
  const playback = usePlaybackOf(transcript, place ?? placeIn(name) ?? 0, place);
  const playable = uri === "" ? undefined : playback;
  useSavedPlace(name, playable);
  const renew = useRenewal(name, version);
  const root = useRef<HTMLDivElement>(null);
  const mayWrite = useSession().scopes.includes("transcripts.write");
  const canEdit = mayWrite && version === undefined;
  const subtitles = useSubtitlesView(root, text);
  const editing = useEditing(root, {
    canEdit: canEdit && !subtitles.isOn,
    name,
    transcript,
  });
  const presence = usePresence(name, useReader(root, text, playable));
  const linkTo = linkOf(name, version, subtitles.isOn);
  const picture = usePicture(transcript);
  const isEditing = editing.Text !== undefined;
  const player = { text, transcript, linkTo, renew, picture, reviewOf: name, isEditing };
  return (
    <ReadingFrame
      {...player}
      playback={playable}
      head={
        <>
          <ReadingHead
            transcript={transcript}
            onEdit={canEdit && !editing.Text && !subtitles.isOn ? editing.begin : undefined}
            subtitles={text.wordCount > 0 && !editing.Text ? subtitles : undefined}
            find={
              text.wordCount > 0 &&
              !editing.Text &&
              !subtitles.isOn && (
                <FindInText {...{ root, text, speakers, languageCode }} playback={playable} />
              )
            }
          />
          {editing.isElsewhere && !subtitles.isOn && <ElsewhereNote onTake={editing.beginHere} />}
          {editing.unopened && !subtitles.isOn && (
            <UnopenedNote draft={editing.unopened} onRetry={editing.begin} />
          )}
          {version !== undefined && <EarlierVersion transcript={transcript} name={name} />}
        </>
      }
      side={
        <Side transcript={transcript} name={name}>
          {!editing.Text && <People others={presence.others} />}
          {playable && (
            <Media {...{ uri, renew, picture }} playback={playable} caption={subtitles.caption} />
          )}
        </Side>
      }
    >
      <Text
        transcript={transcript}
        name={name}
        text={text}
        playback={playable}
        linkTo={linkTo}
        address={place}
        root={root}
        editing={editing}
        subtitles={subtitles}
        presence={presence}
      />
    </ReadingFrame>
  );
}

/** The text of a transcript, to read or to edit. */
function Text({
  transcript,
  name,
  text,
  playback,
  linkTo,
  address,
  root,
  editing: { Text: EditedText, place, end, leave, reopen },
  subtitles,
  presence,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly text: SpokenText;
  readonly playback: Playback | undefined;
  readonly linkTo: string;
  /** The place in the address, in seconds. */
  readonly address: number | undefined;
  readonly root: RefObject<HTMLDivElement | null>;
  readonly editing: Editing;
  readonly subtitles: SubtitlesView;
  readonly presence: Presence;
}) {
  const shared = { transcript, root, text, playback };
  if (EditedText) {
    return (
      <EditedText
        {...shared}
        name={name}
        place={place}
        caption={subtitles.caption}
        presence={presence}
        onEnd={end}
        onTaken={leave}
        onReopen={reopen}
      />
    );
  }
  if (text.wordCount === 0) return <NoWords transcript={transcript} />;
  return (
    <ReadText
      {...shared}
      linkTo={linkTo}
      place={address}
      editedPlace={place}
      subtitles={subtitles}
    />
  );
}

/** Returns where a reader is: at what is played, or at the first paragraph in view. */
function useReader(
  root: RefObject<HTMLElement | null>,
  text: SpokenText,
  playback: Playback | undefined,
): Reader {
  return useMemo(
    () => ({
      place() {
        if (playback?.state.isBegun) return playback.place;
        const ground = root.current;
        return ground ? text.paragraphs[scrollPlaceOf(ground).paragraph]?.start : undefined;
      },
      isListening: () => playback?.state.isPlaying === true,
    }),
    [root, text, playback],
  );
}

/** Returns the address of a version, to which a position in seconds is appended. */
function linkOf(name: string, version: string | undefined, isSubtitles: boolean): string {
  const chosen = version === undefined ? "" : `version=${encodeURIComponent(version)}&`;
  return `/console/${name}?${chosen}${isSubtitles ? "view=subtitles&" : ""}t=`;
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

function NoWords({ transcript: { version } }: { readonly transcript: TranscriptJson }) {
  const t = useText();
  const isRecognized = version?.kind === "RECOGNIZED";
  return (
    <Empty title={t(transcriptText.noWords)}>
      <p>{t(isRecognized ? transcriptText.noWordsNext : transcriptText.emptyText)}</p>
    </Empty>
  );
}

/** What stands next to the text: the picture of a video, and what is known about the transcript. */
function Side({
  transcript,
  name,
  children,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly children: ReactNode;
}) {
  const t = useText();
  return (
    <div className="reading-side" ref={useRoomBelow()}>
      {children}
      <aside
        id="about"
        className="reading-aside"
        data-region="aside"
        aria-label={t(transcriptText.asideName)}
      >
        <TranscriptAside transcript={transcript} name={name} />
      </aside>
    </div>
  );
}
