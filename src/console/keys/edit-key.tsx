import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { callApi } from "../api/call-api.ts";
import { areAllInFields } from "../api/violations.ts";
import { useNotify } from "../parts/announcer.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { FormActions } from "../parts/form-actions.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { violationOf } from "../parts/violation-of.tsx";
import { commonText } from "../text/common.ts";
import { keyProblems, keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import type { Key } from "./key.ts";
import { LimitFields } from "./limit-fields.tsx";
import { areLimits, numbersOf, textsOf } from "./limit-texts.ts";

/** A dialog that changes the name and the limits of a key. */
export function EditKey({
  edited,
  onClose,
}: {
  readonly edited: Key;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const [displayName, setDisplayName] = useState(edited.displayName);
  const [limits, setLimits] = useState(() => textsOf(edited.limits));
  const [isChecked, setIsChecked] = useState(false);
  const change = async (changed: Pick<Key, "displayName" | "limits">) => {
    await callApi(`/v1/${edited.name}`, { method: "PATCH", body: changed });
    await queries.invalidateQueries({ queryKey: ["keys"] });
  };
  const save = useMutation({
    mutationFn: () => change({ displayName: displayName.trim(), limits: numbersOf(limits) }),
    onSuccess: () => {
      const { displayName: name, limits: before } = edited;
      notify(t(keysText.edited)(displayName.trim() || edited.label), () =>
        change({ displayName: name, limits: before }),
      );
      onClose();
    },
  });
  const isNameLong = Array.from(displayName).length > 200;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (!isNameLong && areLimits(limits) && !save.isPending) save.mutate();
  };
  return (
    <DialogBox title={t(keysText.editTitle)} isOpen onClose={onClose} isLocked={save.isPending}>
      <form className="dialog-form" onSubmit={submit} noValidate>
        <TextInput
          label={t(keysText.name)}
          hint={t(keysText.nameHint)}
          problem={isNameLong ? t(keysText.nameTooLong) : violationOf(save.error, "displayName")}
          value={displayName}
          onChange={setDisplayName}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to fill it in
          autoFocus
        />
        <LimitFields
          limits={limits}
          onChange={setLimits}
          isChecked={isChecked}
          error={save.error}
        />
        {save.error && !areAllInFields(save.error, ["displayName", "limits"]) && (
          <ProblemNote error={save.error} own={keyProblems} />
        )}
        <FormActions text={t(commonText.save)} isPending={save.isPending} onClose={onClose} />
      </form>
    </DialogBox>
  );
}
