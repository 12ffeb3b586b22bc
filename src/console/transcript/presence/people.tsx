import type { ParticipantJson } from "../../../gen/hlust/transcripts/v1alpha1/presence_pb.ts";
import { useSession } from "../../api/use-session.ts";
import { clockText, secondsOf } from "../../text/numbers.ts";
import { useText } from "../../text/language.tsx";
import { presenceText } from "../../text/transcript-presence.ts";
import "./people.css";

/** The others who have a transcript open, whether they read or edit it, and where. */
export function People({ others }: { readonly others: readonly ParticipantJson[] }) {
  const t = useText();
  const { actor: me } = useSession();
  if (others.length === 0) return null;
  return (
    <ul className="people" aria-label={t(presenceText.people)}>
      {others.map(({ actor = "", name = "", session, editing, position }) => {
        const shown = name === "" ? t(presenceText.noName) : name;
        const who = actor === me ? t(presenceText.you)(shown) : shown;
        const at = position === undefined ? undefined : clockText(secondsOf(position));
        const words = editing ? presenceText.edits : presenceText.reads;
        return <li key={`${actor} ${session}`}>{t(words)(who, at)}</li>;
      })}
    </ul>
  );
}
