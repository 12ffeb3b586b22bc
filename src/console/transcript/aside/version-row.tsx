import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link, useSearchParams } from "wouter";
import type {
  TranscriptMetadata_DataSourceJson,
  VersionJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../parts/button.tsx";
import { when } from "../../text/dates.ts";
import { useLanguage, useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { useNow } from "../../text/use-now.ts";
import { useHasBeenVisible } from "./use-has-been-visible.ts";
import { withAddress } from "./version-address.ts";
import { changedCounts, changedParts, madePhrase, renamedSpeakers } from "./version-words.ts";
import { countsQuery } from "./versions-query.ts";

/** The state of the history entry of a version that was opened from this list. */
const openedHere = { from: "versions" } as const;

function needsFocus(): boolean {
  const state: unknown = history.state;
  const isOurs = typeof state === "object" && state !== null && "from" in state;
  return isOurs && state.from === openedHere.from && document.activeElement === document.body;
}

/**
 * A version, with a short description of what it changed, its time, and who has made it from what,
 * with a note. The version that is shown also has buttons.
 */
export function VersionRow({
  name,
  version,
  source,
  isNewest,
  isShown,
  onCompare,
  onRestore,
}: {
  readonly name: string;
  readonly version: VersionJson;
  readonly source: TranscriptMetadata_DataSourceJson | undefined;
  readonly isNewest: boolean;
  readonly isShown: boolean;
  readonly onCompare: () => void;
  readonly onRestore: (() => void) | undefined;
}) {
  const t = useText();
  const { language } = useLanguage();
  const now = useNow();
  const [search] = useSearchParams();
  const row = useRef<HTMLLIElement>(null);
  const link = useRef<HTMLAnchorElement>(null);
  const id = version.name ?? "";
  const isFirst = (version.parent ?? "") === "";
  const wasVisible = useHasBeenVisible(row);
  useEffect(() => {
    // The page of another version is a new page, so the focus is returned to its row.
    if (isShown && needsFocus()) link.current?.focus({ preventScroll: true });
  }, [isShown]);
  const counts = useQuery({ ...countsQuery(name, id), enabled: wasVisible && !isFirst });
  const to = withAddress(search, { version: isNewest ? undefined : id }).toString();
  const details = [
    when(language, new Date(version.creationTime ?? ""), now),
    ...(counts.data ? changedCounts(counts.data) : []).map(({ phrase, count }) => t(phrase)(count)),
    ...(counts.data ? renamedSpeakers(counts.data) : []),
  ];
  const made = madePhrase(version);
  const label = () => {
    if (isFirst) {
      return t(isFromUser(version, source) ? asideText.firstVersion : asideText.fromRecognizer);
    }
    if (!counts.data) return t(asideText.someVersion);
    const parts = changedParts(counts.data).map(t);
    return parts.length === 0 ? t(asideText.unchanged) : t(asideText.changed)(parts);
  };
  return (
    <li ref={row} className={isShown ? "version shown" : "version"}>
      <Link
        ref={link}
        state={openedHere}
        to={to === "" ? `/${name}` : `/${name}?${to}`}
        aria-current={isShown ? "true" : undefined}
      >
        {label()}
      </Link>
      <p className="version-facts" dir="auto">
        {details.join(" · ")}
      </p>
      {made && <p className="version-facts version-made">{t(made)(version.authorName ?? "")}</p>}
      {version.note && <p className="version-note">{version.note}</p>}
      {isShown && (
        <div className="version-actions">
          {!isFirst && (
            <Button look="quiet" onPress={onCompare}>
              {t(asideText.whatChanged)}
            </Button>
          )}
          {!isNewest && onRestore && (
            <Button look="quiet" onPress={onRestore}>
              {t(asideText.restore)}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

/** Whether a caller has sent the text of a first version. */
function isFromUser(
  { kind }: VersionJson,
  source: TranscriptMetadata_DataSourceJson | undefined,
): boolean {
  if (kind === "IMPORTED") return true;
  return kind !== "RECOGNIZED" && source === "USER";
}
