import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { useText } from "../../text/language.tsx";
import { asideDialogText } from "../../text/aside-dialogs.ts";
import { type DetailsDraft, draftOf } from "./details-draft.ts";

/** Shown when others have changed the same fields, with their current values. */
export function EditConflict({
  current,
  draft,
}: {
  readonly current: TranscriptJson;
  readonly draft: DetailsDraft;
}) {
  const t = useText();
  const { subject, description, keywords } = draftOf(current.metadata);
  const fields = [
    { name: t(asideDialogText.subject), value: subject, mine: draft.subject },
    { name: t(asideDialogText.description), value: description, mine: draft.description },
    {
      name: t(asideDialogText.keywords),
      value: keywords.join(", "),
      mine: draft.keywords.join(", "),
    },
  ];
  return (
    <div className="details-clash" role="alert">
      <p>{t(asideDialogText.changedElsewhere)}</p>
      <dl>
        {fields
          .filter(({ value, mine }) => value !== mine)
          .map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value === "" ? t(asideDialogText.nothing) : value}</dd>
            </div>
          ))}
      </dl>
    </div>
  );
}
