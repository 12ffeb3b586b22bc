import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import type { RotateApiKeyResponseJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { areAllInFields } from "../api/violations.ts";
import { Choice } from "../parts/choice.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { FormActions } from "../parts/form-actions.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { violationOf } from "../parts/violation-of.tsx";
import { keyProblems, keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { useNow } from "../text/use-now.ts";
import { today } from "./expiry.ts";
import { DayField } from "./key-fields.tsx";
import { apiKeysQuery, type Key } from "./key.ts";
import { NewSecret } from "./new-secret.tsx";
import { lastDay, type PreviousEnd, previousEndOf, previousEnds } from "./previous-end.ts";

/** A dialog that gives an API key a new secret, and shows it once. */
export function RotateKey({
  rotated,
  onClose,
}: {
  readonly rotated: Key;
  readonly onClose: () => void;
}) {
  const t = useText();
  const now = useNow();
  const queries = useQueryClient();
  const [end, setEnd] = useState<PreviousEnd>("86400");
  const [day, setDay] = useState("");
  const [isChecked, setIsChecked] = useState(false);
  const rotate = useMutation({
    mutationFn: (previousSecretExpireTime: string | undefined) =>
      callApi<RotateApiKeyResponseJson>(`/v1/${rotated.name}:rotate`, {
        method: "POST",
        body: { ...(previousSecretExpireTime !== undefined && { previousSecretExpireTime }) },
      }),
    // The secret must not stay in memory after the dialog has closed.
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: apiKeysQuery.queryKey }),
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    const until = previousEndOf(end, day, new Date());
    if (until !== "missing" && !rotate.isPending) rotate.mutate(until);
  };
  const { data, error, isPending } = rotate;
  const isDayWrong = isChecked && previousEndOf(end, day, now) === "missing";
  const field = "previousSecretExpireTime";
  return (
    <DialogBox
      title={
        data
          ? t(keysText.createdTitle)
          : t(keysText.rotateTitle)(rotated.displayName || rotated.label)
      }
      isOpen
      onClose={onClose}
      isLocked={data !== undefined || isPending}
    >
      {data?.secret === undefined ? (
        <form className="dialog-form" onSubmit={submit} noValidate>
          <p>{t(keysText.rotateNext)}</p>
          <Choice<PreviousEnd>
            label={t(keysText.previous)}
            value={end}
            options={previousEnds.map((value) => ({ value, text: t(keysText.previousOf[value]) }))}
            onChange={setEnd}
          />
          {end === "now" && <p className="failed">{t(keysText.previousNow)}</p>}
          {end === "date" && (
            <DayField
              label={t(keysText.day)}
              value={day}
              max={today(lastDay(now))}
              problem={isDayWrong ? t(keysText.previousDay) : violationOf(error, field)}
              onChange={setDay}
            />
          )}
          {error && !(end === "date" && areAllInFields(error, [field])) && (
            <ProblemNote error={error} own={keyProblems} />
          )}
          <FormActions text={t(keysText.act.rotate)} isPending={isPending} onClose={onClose} />
        </form>
      ) : (
        <NewSecret secret={data.secret} onClose={onClose} />
      )}
    </DialogBox>
  );
}
