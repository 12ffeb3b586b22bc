import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ShareJson } from "../../../gen/hlust/transcripts/v1alpha1/share_pb.ts";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../parts/button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { shortDate, when } from "../../text/dates.ts";
import { useLanguage, useText } from "../../text/language.tsx";
import { sharesText } from "../../text/shares.ts";
import { useNow } from "../../text/use-now.ts";
import { AsideSection } from "./aside-section.tsx";
import { sharesQuery } from "./shares-query.ts";
import { useDialog } from "./use-dialog.ts";
import "./shares.css";

const loadShare = () => import("./share-dialog.tsx");
const loadRevoke = () => import("./revoke-dialog.tsx");

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
  const making = useDialog(loadShare, isMaking);
  const revoking = useDialog(loadRevoke, revoked !== undefined);
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
      {isMaking && making && (
        <making.ShareDialog
          name={name}
          version={version}
          hasMedia={(transcript.uri ?? "") !== ""}
          onClose={() => setIsMaking(false)}
        />
      )}
      {revoked && revoking && (
        <revoking.RevokeDialog name={name} share={revoked} onClose={() => setRevoked(undefined)} />
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
