import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type RefObject, useMemo, useRef, useState } from "react";
import type {
  TranscriptDiffJson,
  TranscriptJson,
} from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../../parts/button.tsx";
import { ProblemNote } from "../../../parts/problem-note.tsx";
import { commonText } from "../../../text/common.ts";
import { useText } from "../../../text/language.tsx";
import { asideDialogText } from "../../../text/aside-dialogs.ts";
import { transcriptQuery } from "../../transcript-query.ts";
import { changedCounts } from "../version-words.ts";
import { diffQuery } from "../versions-query.ts";
import { AgainstChoice } from "./against-choice.tsx";
import { ChangedPlace } from "./changed-place.tsx";
import { ChangeSteps } from "./change-steps.tsx";
import { hunksOf, wordsOf } from "./hunks.ts";
import { useStepKeys } from "./use-step-keys.ts";
import { MetadataChanges } from "./metadata-changes.tsx";

/**
 * All differences between two versions, in order. `transcript` is the version that the page shows.
 */
export function Comparison({
  name,
  transcript,
  version,
  against,
  onChoose,
}: {
  readonly name: string;
  readonly transcript: TranscriptJson;
  readonly version: string;
  readonly against: string | undefined;
  readonly onChoose: (against: string | undefined) => void;
}) {
  const t = useText();
  const { diff, hunks, error, retry } = useDiff(name, transcript, { version, against });
  const [first] = diff.data?.pages ?? [];
  const metadataChanges = first?.metadataChanges ?? [];
  const count = hunks.length + (metadataChanges.length > 0 ? 1 : 0);
  const places = useRef<HTMLDivElement>(null);
  const { at, previous, next } = useSteps(places, diff);
  return (
    <div className="comparison">
      <div className="comparison-tools">
        <AgainstChoice name={name} version={version} against={against} onChoose={onChoose} />
        <ChangeSteps
          at={at}
          count={count}
          hasMore={diff.hasNextPage}
          onPrevious={previous}
          onNext={next}
        />
      </div>
      {first && <Counts diff={first} isSame={count === 0 && !diff.hasNextPage} />}
      {diff.isPending && <p className="quiet">{t(commonText.loading)}</p>}
      <div ref={places} className="comparison-places">
        {metadataChanges.length > 0 && <MetadataChanges changes={metadataChanges} />}
        {hunks.length > 0 && (
          <ol className="changed-places" aria-label={t(asideDialogText.changes)}>
            {hunks.map((hunk) => (
              <ChangedPlace key={hunk.id} hunk={hunk} />
            ))}
          </ol>
        )}
        {error && <ProblemNote error={error} onRetry={retry} />}
        {diff.hasNextPage && (
          <Button
            isPending={diff.isFetchingNextPage}
            onPress={() => {
              if (!diff.isFetchingNextPage) void diff.fetchNextPage();
            }}
          >
            {t(asideDialogText.moreChanges)}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Reads the diff, and the compared version, which provides the words around each change. */
function useDiff(
  name: string,
  transcript: TranscriptJson,
  { version, against = "" }: { readonly version: string; readonly against: string | undefined },
) {
  const diff = useInfiniteQuery(diffQuery(name, version, against));
  const isShown = transcript.version?.name === version;
  const other = useQuery({ ...transcriptQuery(name, version), enabled: !isShown });
  const compared = isShown ? transcript : other.data;
  // There are no words until the version has been read, so hunks are first shown without context.
  const words = useMemo(() => wordsOf(compared?.segments ?? []), [compared?.segments]);
  const hunks = useMemo(
    () => hunksOf(diff.data?.pages.flatMap(({ runs = [] }) => runs) ?? [], words),
    [diff.data, words],
  );
  const retry = () => void (diff.error ? diff.refetch() : other.refetch());
  return { diff, hunks, error: diff.error ?? other.error, retry };
}

/**
 * Moves the focus from change to change, with buttons or keys. Reads more of the diff when the last
 * change is reached.
 */
function useSteps(
  places: RefObject<HTMLElement | null>,
  diff: { readonly hasNextPage: boolean; readonly fetchNextPage: () => Promise<unknown> },
) {
  const [at, setAt] = useState(-1);
  // A ref is updated before rendering, so that two quick presses are two steps.
  const reached = useRef(-1);
  const go = (by: 1 | -1) => {
    const to = reached.current + by;
    const place = placesIn(places.current)[to];
    if (!place) return;
    reached.current = to;
    setAt(to);
    place.focus({ preventScroll: true });
    place.scrollIntoView({ block: "center" });
  };
  const readAndGo = async () => {
    const isLast = reached.current + 1 >= placesIn(places.current).length;
    if (isLast && diff.hasNextPage) await diff.fetchNextPage();
    // New hunks are rendered in the next frame.
    requestAnimationFrame(() => go(1));
  };
  const previous = () => go(-1);
  const next = () => void readAndGo();
  useStepKeys({ previous, next });
  return { at, previous, next };
}

/** Returns the rendered places of changes, in order. */
function placesIn(page: HTMLElement | null): readonly HTMLElement[] {
  return [...(page?.querySelectorAll<HTMLElement>("[data-place]") ?? [])];
}

function Counts({ diff, isSame }: { readonly diff: TranscriptDiffJson; readonly isSame: boolean }) {
  const t = useText();
  const counts = changedCounts(diff).map(({ phrase, count }) => t(phrase)(count));
  const text =
    isSame && counts.length === 0 ? t(asideDialogText.nothingDiffers) : counts.join(" · ");
  return text === "" ? null : <p className="comparison-counts">{text}</p>;
}
