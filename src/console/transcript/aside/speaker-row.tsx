import { type Ref, useEffect, useRef, useState } from "react";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../parts/button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { useNotify } from "../../parts/announcer.tsx";
import { useText } from "../../text/language.tsx";
import { clockText } from "../../text/numbers.ts";
import { asideText } from "../../text/transcript-aside.ts";
import { ChangedElsewhere } from "./change-metadata.ts";
import { NameField } from "./name-field.tsx";
import type { SpeakerTime } from "./speaking-time.ts";
import { useMetadataChange } from "./use-metadata-change.ts";

/** A speaker with the name, which becomes a field when it is clicked, and the speaking time. */
export function SpeakerRow({
  speaker: { id, name: shown, seconds },
  transcript,
  name,
  canChange,
}: {
  readonly speaker: SpeakerTime;
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly canChange: boolean;
}) {
  const t = useText();
  const notify = useNotify();
  const change = useMetadataChange(name, transcript);
  const button = useRef<HTMLButtonElement>(null);
  const [draft, setDraft] = useState<string>();
  const [returnsFocus, setReturnsFocus] = useState(false);
  useEffect(() => {
    if (returnsFocus && draft === undefined) button.current?.focus();
  }, [returnsFocus, draft]);

  const save = (typed: string, byKey: boolean) => {
    const to = typed.normalize("NFC").trim();
    setReturnsFocus(byKey);
    setDraft(undefined);
    if (to === shown) return;
    change.mutate(
      { speakers: { [id]: { from: shown, to } } },
      {
        onSuccess: () => notify(t(asideText.renamed)(to === "" ? id : to)),
        // Shows the typed name in its field again.
        onError: () => setDraft(typed),
      },
    );
  };
  const edit = () => {
    change.reset();
    setDraft(shown);
  };
  const cancel = () => {
    setReturnsFocus(true);
    setDraft(undefined);
    change.reset();
  };
  const { error } = change;
  return (
    <li className="speaker">
      {draft === undefined ? (
        <SpeakerName id={id} shown={shown} canChange={canChange} ref={button} onEdit={edit} />
      ) : (
        <NameField
          label={t(asideText.speakerName)(id)}
          hint={t(asideText.nameHint)}
          value={draft}
          placeholder={t(asideText.speaker)(id)}
          keepsOnBlur={error !== null}
          onChange={setDraft}
          onSave={save}
          onCancel={cancel}
        />
      )}
      <span className="figures quiet">{clockText(seconds)}</span>
      {draft !== undefined && error instanceof ChangedElsewhere && (
        <div className="speaker-problem" role="alert">
          <p>{t(asideText.nameChangedElsewhere)(shown === "" ? t(asideText.noName) : shown)}</p>
          <Button onPress={() => save(draft, true)}>{t(asideText.saveMine)}</Button>
          <Button look="quiet" onPress={cancel}>
            {t(asideText.keepTheirs)}
          </Button>
        </div>
      )}
      {draft !== undefined && error !== null && !(error instanceof ChangedElsewhere) && (
        <div className="speaker-problem">
          <ProblemNote error={error} onRetry={() => save(draft, true)} />
        </div>
      )}
    </li>
  );
}

function SpeakerName({
  id,
  shown,
  canChange,
  ref,
  onEdit,
}: {
  readonly id: string;
  readonly shown: string;
  readonly canChange: boolean;
  readonly ref: Ref<HTMLButtonElement>;
  readonly onEdit: () => void;
}) {
  const t = useText();
  const text = shown === "" ? t(asideText.speaker)(id) : shown;
  if (!canChange)
    return (
      <span className="speaker-name" dir="auto">
        {text}
      </span>
    );
  return (
    <button
      type="button"
      ref={ref}
      className="speaker-name"
      dir="auto"
      aria-label={t(asideText.rename)(text)}
      onClick={onEdit}
    >
      {text}
    </button>
  );
}
