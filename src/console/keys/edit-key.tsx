import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { callApi } from "../api/call-api.ts";
import { areAllInFields, violationOf } from "../api/violations.ts";
import { useAnnounce } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { commonText } from "../text/common.ts";
import { keyProblems, keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { type Key, type LimitName, limitNames } from "./key.ts";
import "./key-form.css";
import "./keys.css";

type Limits = Readonly<Record<LimitName, string>>;

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
  const announce = useAnnounce();
  const [displayName, setDisplayName] = useState(edited.displayName);
  const [limits, setLimits] = useState(() => textsOf(edited.limits));
  const [isChecked, setIsChecked] = useState(false);
  const save = useMutation({
    mutationFn: () =>
      callApi(`/v1/${edited.name}`, {
        method: "PATCH",
        body: { displayName: displayName.trim(), limits: numbersOf(limits) },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["keys"] });
      announce(t(keysText.edited)(displayName.trim() || edited.label));
      onClose();
    },
  });
  const isNameLong = Array.from(displayName).length > 200;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    const isWrong = isNameLong || limitNames.some((name) => !isLimit(limits[name]));
    if (!isWrong && !save.isPending) save.mutate();
  };
  const problemOf = (name: LimitName): string | undefined =>
    isChecked && !isLimit(limits[name])
      ? t(keysText.limitWrong)
      : violationOf(save.error, `limits.${name}`);
  return (
    <DialogBox title={t(keysText.editTitle)} isOpen onClose={onClose} isLocked={save.isPending}>
      <form className="key-form" onSubmit={submit} noValidate>
        <TextInput
          label={t(keysText.name)}
          hint={t(keysText.nameHint)}
          problem={isNameLong ? t(keysText.nameTooLong) : violationOf(save.error, "displayName")}
          value={displayName}
          onChange={setDisplayName}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to fill it in
          autoFocus
        />
        <fieldset className="key-limits">
          <legend>
            {t(keysText.limitsTitle)} <span className="hint">{t(keysText.limitsHint)}</span>
          </legend>
          {limitNames.map((name) => (
            <TextInput
              key={name}
              label={t(keysText.limitOf[name])}
              inputMode="numeric"
              autoComplete="off"
              value={limits[name]}
              problem={problemOf(name)}
              onChange={(text) => setLimits((before) => ({ ...before, [name]: text }))}
            />
          ))}
        </fieldset>
        {save.error && !areAllInFields(save.error, ["displayName", "limits"]) && (
          <ProblemNote error={save.error} own={keyProblems} />
        )}
        <div className="dialog-actions">
          <Button onPress={onClose}>{t(commonText.cancel)}</Button>
          <Button type="submit" look="primary" isPending={save.isPending}>
            {t(commonText.save)}
          </Button>
        </div>
      </form>
    </DialogBox>
  );
}

function textsOf(limits: Key["limits"]): Limits {
  const text = (name: LimitName) => (limits[name] ? `${limits[name]}` : "");
  return {
    requestsPerMinute: text("requestsPerMinute"),
    concurrentStreams: text("concurrentStreams"),
    queuedJobs: text("queuedJobs"),
    audioSecondsPerDay: text("audioSecondsPerDay"),
  };
}

/** Whether a text is a limit: a whole number, or nothing. */
function isLimit(text: string): boolean {
  return /^\s*\d{0,10}\s*$/.test(text);
}

/** Returns the limits that are set; an empty message removes all of them. */
function numbersOf(limits: Limits): Partial<Record<LimitName, number>> {
  const set = limitNames.filter((name) => Number(limits[name]) > 0);
  return Object.fromEntries(set.map((name) => [name, Number(limits[name])]));
}
