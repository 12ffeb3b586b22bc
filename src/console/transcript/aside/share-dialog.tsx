import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import type { ShareJson } from "../../../gen/hlust/transcripts/v1alpha1/share_pb.ts";
import { callApi } from "../../api/call-api.ts";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { CodeSample } from "../../parts/code-sample.tsx";
import { DialogBox } from "../../parts/dialog-box.tsx";
import { FormActions } from "../../parts/form-actions.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { TextInput } from "../../parts/text-input.tsx";
import { keysText } from "../../text/keys.ts";
import { useText } from "../../text/language.tsx";
import { shareDialogText } from "../../text/share-dialogs.ts";
import { sharesQuery } from "./shares-query.ts";

/** The choices for how many days a link is valid. */
const validDays = ["7", "30", "90", "365"] as const;
type ValidDays = (typeof validDays)[number];
const dayMs = 86_400_000;

type Content = "text" | "media";

/** Creates a link, and then shows it, once. */
export function ShareDialog({
  name,
  version,
  hasMedia,
  onClose,
}: {
  readonly name: string;
  /** The version to share; undefined for always the current one. */
  readonly version: string | undefined;
  readonly hasMedia: boolean;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const make = useMutation({
    mutationFn: (share: ShareJson) =>
      callApi<ShareJson>(`/v1alpha1/${name}/shares`, { method: "POST", body: share }),
    onSuccess: () => void queries.invalidateQueries(sharesQuery(name)),
  });
  const { data, error, isPending } = make;
  return (
    <DialogBox
      title={t(data ? shareDialogText.madeTitle : shareDialogText.newTitle)}
      isOpen
      onClose={onClose}
      isLocked={data !== undefined || isPending}
    >
      {data ? (
        <>
          <p>{t(shareDialogText.made)}</p>
          <CodeSample label={t(shareDialogText.link)} text={data.uri ?? ""} />
          <div className="dialog-actions">
            <Button look="primary" onPress={onClose}>
              {t(keysText.done)}
            </Button>
          </div>
        </>
      ) : (
        <ShareForm
          version={version}
          hasMedia={hasMedia}
          error={error}
          isPending={isPending}
          onMake={(share) => make.mutate(share)}
          onClose={onClose}
        />
      )}
    </DialogBox>
  );
}

function ShareForm({
  version,
  hasMedia,
  error,
  isPending,
  onMake,
  onClose,
}: {
  readonly version: string | undefined;
  readonly hasMedia: boolean;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onMake: (share: ShareJson) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const [content, setContent] = useState<Content>("text");
  const [days, setDays] = useState<ValidDays>("30");
  const [note, setNote] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isPending) return;
    onMake({
      withMedia: content === "media",
      expireTime: new Date(Date.now() + Number(days) * dayMs).toISOString(),
      note: note.trim(),
      ...(version !== undefined && { version }),
    });
  };
  return (
    <form className="share-form" onSubmit={submit}>
      <p>{t(shareDialogText.what)}</p>
      {hasMedia && (
        <>
          <Choice<Content>
            label={t(shareDialogText.content)}
            value={content}
            options={[
              { value: "text", text: t(shareDialogText.textOnly) },
              { value: "media", text: t(shareDialogText.textAndMedia) },
            ]}
            onChange={setContent}
          />
          {content === "media" && <p className="hint">{t(shareDialogText.mediaHint)}</p>}
        </>
      )}
      <Choice<ValidDays>
        label={t(shareDialogText.expiry)}
        value={days}
        options={validDays.map((value) => ({
          value,
          text: t(shareDialogText.days)(Number(value)),
        }))}
        onChange={setDays}
      />
      <TextInput
        label={t(shareDialogText.note)}
        hint={t(shareDialogText.noteHint)}
        value={note}
        onChange={setNote}
        maxLength={1000}
      />
      <p className="hint">
        {t(version === undefined ? shareDialogText.ofCurrent : shareDialogText.ofVersion)}
      </p>
      {error && <ProblemNote error={error} />}
      <FormActions text={t(shareDialogText.make)} isPending={isPending} onClose={onClose} />
    </form>
  );
}
