import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { ShareJson } from "../../../gen/hlust/transcripts/v1alpha1/share_pb.ts";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../../api/api-error.ts";
import { callApi } from "../../api/call-api.ts";
import { useAnnounce } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { DangerActions } from "../../parts/danger-actions.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { shortDate, when } from "../../text/dates.ts";
import { useLanguage, useText } from "../../text/language.tsx";
import { sharesText } from "../../text/shares.ts";
import { useNow } from "../../text/use-now.ts";
import { AsideSection } from "./aside-section.tsx";
import { sharesQuery } from "./shares-query.ts";
import "./shares.css";

/** The dialog is loaded when a link is made. */
const ShareDialog = lazy(() =>
  import("./share-dialog.tsx").then(({ ShareDialog }) => ({ default: ShareDialog })),
);

/** The links with which the transcript is read without an account. */
export function Shares({
  transcript,
  name,
  version,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  /** The id of the version in the address; undefined for the current version. */
  readonly version: string | undefined;
}) {
  const t = useText();
  const { data, error, refetch } = useQuery(sharesQuery(name));
  const [isMaking, setIsMaking] = useState(false);
  const [revoked, setRevoked] = useState<ShareJson>();
  return (
    <AsideSection
      title={t(sharesText.share)}
      action={
        <Button look="quiet" onPress={() => setIsMaking(true)}>
          {t(sharesText.newLink)}
        </Button>
      }
    >
      {data?.length === 0 && <p className="hint">{t(sharesText.none)}</p>}
      {data && data.length > 0 && (
        <ul className="shares" aria-label={t(sharesText.links)}>
          {data.map((share) => (
            <ShareRow key={share.name} share={share} onRevoke={() => setRevoked(share)} />
          ))}
        </ul>
      )}
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {isMaking && (
        <Suspense>
          <ShareDialog
            name={name}
            version={version}
            hasMedia={(transcript.uri ?? "") !== ""}
            onClose={() => setIsMaking(false)}
          />
        </Suspense>
      )}
      {revoked && (
        <RevokeDialog name={name} share={revoked} onClose={() => setRevoked(undefined)} />
      )}
    </AsideSection>
  );
}

function ShareRow({
  share: { note = "", withMedia = false, expireTime = "", lastReadTime },
  onRevoke,
}: {
  readonly share: ShareJson;
  readonly onRevoke: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const now = useNow();
  const what = t(withMedia ? sharesText.withMedia : sharesText.withoutMedia);
  const facts = [
    ...(note === "" ? [] : [what]),
    t(sharesText.expires)(shortDate(language, new Date(expireTime), now)),
    lastReadTime === undefined || lastReadTime === null
      ? t(sharesText.neverRead)
      : t(sharesText.lastRead)(when(language, new Date(lastReadTime), now)),
  ];
  return (
    <li className="share">
      <p className="share-name">{note || what}</p>
      <p className="share-facts">{facts.join(" · ")}</p>
      <Button look="quiet" aria-label={t(sharesText.revokeOf)(note || what)} onPress={onRevoke}>
        {t(sharesText.revoke)}
      </Button>
    </li>
  );
}

function RevokeDialog({
  name,
  share,
  onClose,
}: {
  readonly name: string;
  readonly share: ShareJson;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const revoke = useMutation({
    mutationFn: () => deleteShare(share),
    onSuccess: () => {
      void queries.invalidateQueries(sharesQuery(name));
      announce(t(sharesText.revoked));
      onClose();
    },
  });
  return (
    <DialogBox title={t(sharesText.revokeTitle)} isOpen onClose={onClose} isDismissable>
      <p>{t(sharesText.revokeNext)}</p>
      {revoke.error && <ProblemNote error={revoke.error} />}
      <DangerActions
        text={t(sharesText.revoke)}
        isPending={revoke.isPending}
        onConfirm={() => revoke.mutate()}
        onClose={onClose}
      />
    </DialogBox>
  );
}

async function deleteShare({ name }: ShareJson): Promise<void> {
  try {
    await callApi<object>(`/v1alpha1/${name}`, { method: "DELETE" });
  } catch (error) {
    // The link ended already, or the response of an earlier attempt was lost.
    if (!(error instanceof ApiError && error.reason === "SHARE_NOT_FOUND")) throw error;
  }
}
