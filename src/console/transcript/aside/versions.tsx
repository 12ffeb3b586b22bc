import { useState } from "react";
import type {
  TranscriptJson,
  VersionJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../parts/button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { commonText } from "../../text/common.ts";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { Alignment } from "./alignment.tsx";
import { AsideSection } from "./aside-section.tsx";
import { useLoaded } from "../use-loaded.ts";
import { useDialog } from "./use-dialog.ts";
import { useVersions } from "./use-versions.ts";
import { useVersionAddress } from "./version-address.ts";
import { VersionRow } from "./version-row.tsx";
import "./versions.css";

const loadComparison = () => import("./compare/compare-dialog.tsx");
const loadRestore = () => import("./restore-dialog.tsx");
const loadFollow = () => import("./follow-again.tsx");
const loadAgain = () => import("./transcribe-again-dialog.tsx");

/** The versions of a transcript, newest first, with actions to show, compare or restore one. */
export function Versions({
  transcript,
  name,
  canRestore,
  canAlign,
  canTranscribe,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly canRestore: boolean;
  /** Whether the words of this version can be aligned to its sound. */
  readonly canAlign: boolean;
  /** Whether the recording can be transcribed again. */
  readonly canTranscribe: boolean;
}) {
  const t = useText();
  const { versions, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useVersions(name);
  const [address, go] = useVersionAddress();
  const [restored, setRestored] = useState<VersionJson>();
  const comparing = useDialog(loadComparison, address.changed !== undefined);
  const restoring = useDialog(loadRestore, restored !== undefined);
  const shown = transcript.version?.name;
  const newest = versions[0]?.name;
  return (
    <AsideSection title={t(asideText.versions)}>
      {isPending && <p className="quiet">{t(commonText.loading)}</p>}
      <ol className="versions">
        {versions.map((version) => (
          <VersionRow
            key={version.name}
            name={name}
            version={version}
            source={transcript.metadata?.dataSource}
            isNewest={version.name === newest}
            isShown={version.name === shown}
            onCompare={() => go({ changed: version.name, against: undefined })}
            onRestore={canRestore ? () => setRestored(version) : undefined}
          />
        ))}
      </ol>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {hasNextPage && (
        <Button
          look="quiet"
          isPending={isFetchingNextPage}
          onPress={() => {
            if (!isFetchingNextPage) void fetchNextPage();
          }}
        >
          {t(asideText.olderVersions)}
        </Button>
      )}
      {canTranscribe && <TranscribeAgain transcript={transcript} name={name} />}
      {canAlign && <Alignment name={name} version={shown ?? ""} />}
      {restoring && (
        <restoring.RestoreDialog
          name={name}
          version={restored}
          newest={newest}
          onClose={() => setRestored(undefined)}
        />
      )}
      {comparing && (
        <comparing.CompareDialog
          name={name}
          transcript={transcript}
          address={address}
          onChoose={(against) => go({ against })}
          onClose={() => go({ changed: undefined, against: undefined })}
        />
      )}
    </AsideSection>
  );
}

/** A button that opens the dialog in which the recording is submitted again. */
function TranscribeAgain({
  transcript,
  name,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
}) {
  const t = useText();
  const [isOpen, setIsOpen] = useState(false);
  const dialog = useDialog(loadAgain, isOpen);
  const [job, setJob] = useState<string>();
  const following = useLoaded(loadFollow, job !== undefined, false);
  return (
    <div>
      <Button onPress={() => setIsOpen(true)}>{t(asideText.transcribeAgain)}</Button>
      {isOpen && dialog && (
        <dialog.TranscribeAgainDialog
          name={name}
          languageCode={transcript.metadata?.languageCode ?? ""}
          onSubmitted={setJob}
          onClose={() => setIsOpen(false)}
        />
      )}
      {job !== undefined && following && <following.FollowAgain key={job} name={name} job={job} />}
    </div>
  );
}
