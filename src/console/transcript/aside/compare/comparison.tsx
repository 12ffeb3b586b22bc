import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import type {
  TranscriptDiffJson,
  TranscriptJson,
} from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../../parts/button.tsx";
import { ProblemNote } from "../../../parts/problem-note.tsx";
import { commonText } from "../../../text/common.ts";
import { useText } from "../../../text/language.tsx";
import { asideText } from "../../../text/transcript-aside.ts";
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
 * Everything that is different in one version from another, place after place. `transcript`: the
 * one that the page shows.
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
  const diff = useInfiniteQuery(diffQuery(name, version, against ?? ""));
  const isHere = transcript.version?.name === version;
  const other = useQuery({ ...transcriptQuery(name, version), enabled: !isHere });
  const compared = isHere ? transcript : other.data;
  const words = useMemo(() => wordsOf(compared?.segments ?? []), [compared?.segments]);
  const hunks = useMemo(
    () =>
      hunksOf(
        diff.data?.pages.flatMap(({ runs = [] }) => runs) ?? [],
        // Until they are there, places stand without what is around them.
        words,
      ),
    [diff.data, words],
  );
  const [first] = diff.data?.pages ?? [];
  const error = diff.error ?? other.error;
  const places = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(-1);
  const hasFacts = (first?.metadataChanges ?? []).length > 0;
  const count = hunks.length + (hasFacts ? 1 : 0);
  // What the last press has gone to is known before it is rendered: so two in a row are two.
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
  const next = async () => {
    const isLast = reached.current + 1 >= placesIn(places.current).length;
    if (isLast && diff.hasNextPage) await diff.fetchNextPage();
    // What was fetched is on the page a moment later.
    requestAnimationFrame(() => go(1));
  };
  const previous = () => go(-1);
  useStepKeys({ previous, next: () => void next() });
  return (
    <div className="comparison">
      <div className="comparison-tools">
        <AgainstChoice name={name} version={version} against={against} onChoose={onChoose} />
        <ChangeSteps
          at={at}
          count={count}
          hasMore={diff.hasNextPage}
          onPrevious={previous}
          onNext={() => void next()}
        />
      </div>
      {first && <Counts diff={first} isSame={count === 0 && !diff.hasNextPage} />}
      {diff.isPending && <p className="quiet">{t(commonText.loading)}</p>}
      <div ref={places} className="comparison-places">
        {first && hasFacts && <MetadataChanges changes={first.metadataChanges ?? []} />}
        {hunks.length > 0 && (
          <ol className="changed-places" aria-label={t(asideText.changes)}>
            {hunks.map((hunk) => (
              <ChangedPlace key={hunk.id} hunk={hunk} />
            ))}
          </ol>
        )}
        {error && (
          <ProblemNote
            error={error}
            onRetry={() => void (diff.error ? diff.refetch() : other.refetch())}
          />
        )}
        {diff.hasNextPage && (
          <Button
            isPending={diff.isFetchingNextPage}
            onPress={() => {
              if (!diff.isFetchingNextPage) void diff.fetchNextPage();
            }}
          >
            {t(asideText.moreChanges)}
          </Button>
        )}
      </div>
    </div>
  );
}

/** The places of changes that are in the page, in order. */
function placesIn(page: HTMLElement | null): readonly HTMLElement[] {
  return [...(page?.querySelectorAll<HTMLElement>("[data-place]") ?? [])];
}

function Counts({ diff, isSame }: { readonly diff: TranscriptDiffJson; readonly isSame: boolean }) {
  const t = useText();
  const counts = changedCounts(diff).map(({ phrase, count }) => t(phrase)(count));
  const text = isSame && counts.length === 0 ? t(asideText.nothingDiffers) : counts.join(" · ");
  return text === "" ? null : <p className="comparison-counts">{text}</p>;
}
