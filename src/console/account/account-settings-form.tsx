import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import type { AccountJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { accountQuery } from "../api/recording-defaults.ts";
import { isSignedIn, sessionQuery } from "../api/session.ts";
import { areAllInFields } from "../api/violations.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { loadLater } from "../parts/load-later.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { violationOf } from "../parts/violation-of.tsx";
import { settingsText } from "../text/account-settings.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { daysOf, isShorter, type Retention, retentionOf } from "./retention.ts";
import { RetentionField } from "./retention-field.tsx";
import { type FormPart, useStoredValues } from "./stored-values.ts";

const ConfirmShorter = loadLater(() =>
  import("./confirm-shorter.tsx").then(({ ConfirmShorter }) => ConfirmShorter),
);

const fields = ["displayName", "mediaRetentionDays", "transcriptRetentionDays"] as const;

/** The values that the form saves. */
interface Values {
  readonly displayName: string;
  readonly mediaRetentionDays: number;
  readonly transcriptRetentionDays: number;
  readonly vocabularyCandidatesDisabled: boolean;
}

/** What the form saves: all its values, and those that were stored when the user saved them. */
interface Change {
  readonly values: Values;
  readonly from: Values;
}

/**
 * The form of the account's settings. A shorter retention is saved only after a question. Only the
 * fields that the user has changed are sent, so that changes of others since then stay.
 */
export function AccountSettingsForm({ account }: { readonly account: AccountJson }) {
  const t = useText();
  const form = useStoredValues(account, fieldsOf, parts);
  const { displayName, media, kept, isOffered } = form.values;
  const before = savedValues(form.before);
  const [isChecked, setIsChecked] = useState(false);
  const [asked, setAsked] = useState<Change>();
  const save = useSave(form.send, () => setAsked(undefined));
  const [mediaDays, keptDays] = [daysOf(media), daysOf(kept)];
  const isNameLong = Array.from(displayName).length > 200;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (mediaDays === undefined || keptDays === undefined || isNameLong || save.isPending) return;
    const values = savedValues(form.values);
    // The question may be open for long, while others change the stored values.
    const change = { values, from: before };
    if (deletes(values, before)) setAsked(change);
    else save.mutate(change);
  };
  const { error } = save;
  const daysProblem = (field: (typeof fields)[number], days: number | undefined) =>
    isChecked && days === undefined ? t(settingsText.daysWrong) : violationOf(error, field);
  return (
    <form className="settings-form" onSubmit={submit} noValidate>
      <TextInput
        label={t(settingsText.name)}
        value={displayName}
        onChange={(text) => form.change({ displayName: text })}
        problem={isNameLong ? t(settingsText.nameTooLong) : violationOf(error, "displayName")}
      />
      <fieldset className="settings-group">
        <legend>{t(settingsText.retention)}</legend>
        <p className="hint">{t(settingsText.retentionNext)}</p>
        <RetentionField
          label={t(settingsText.media)}
          hint={t(settingsText.mediaHint)}
          value={media}
          before={before.mediaRetentionDays}
          problem={daysProblem("mediaRetentionDays", mediaDays)}
          onChange={(chosen) => form.change({ media: chosen })}
        />
        <RetentionField
          label={t(settingsText.transcripts)}
          hint={t(settingsText.transcriptsHint)}
          value={kept}
          before={before.transcriptRetentionDays}
          problem={daysProblem("transcriptRetentionDays", keptDays)}
          onChange={(chosen) => form.change({ kept: chosen })}
        />
      </fieldset>
      <CandidatesField
        isOffered={isOffered}
        onChange={(chosen) => form.change({ isOffered: chosen })}
      />
      {error && !asked && !areAllInFields(error, fields) && <ProblemNote error={error} />}
      <div className="settings-actions">
        <Button type="submit" look="primary" isPending={save.isPending}>
          {t(commonText.save)}
        </Button>
      </div>
      {asked && (
        <ConfirmShorter
          {...asked}
          isPending={save.isPending}
          error={save.error}
          onConfirm={() => save.mutate(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </form>
  );
}

/** What the fields of the form hold. */
interface Fields {
  readonly displayName: string;
  readonly media: Retention;
  readonly kept: Retention;
  readonly isOffered: boolean;
}

const parts: readonly FormPart<Fields>[] = [
  { fields: ["displayName"], textOf: ({ displayName }) => displayName.trim() },
  { fields: ["media"], textOf: ({ media }) => `${daysOf(media)}` },
  { fields: ["kept"], textOf: ({ kept }) => `${daysOf(kept)}` },
  { fields: ["isOffered"], textOf: ({ isOffered }) => `${isOffered}` },
];

function fieldsOf(account: AccountJson): Fields {
  const values = valuesOf(account);
  return {
    displayName: values.displayName,
    media: retentionOf(values.mediaRetentionDays),
    kept: retentionOf(values.transcriptRetentionDays),
    isOffered: !values.vocabularyCandidatesDisabled,
  };
}

function CandidatesField({
  isOffered,
  onChange,
}: {
  readonly isOffered: boolean;
  readonly onChange: (isOffered: boolean) => void;
}) {
  const t = useText();
  return (
    <fieldset className="settings-group">
      <legend>{t(settingsText.vocabulary)}</legend>
      <label className="settings-check">
        <input
          type="checkbox"
          checked={isOffered}
          onChange={({ target }) => onChange(target.checked)}
        />
        {t(settingsText.candidates)}
      </label>
    </fieldset>
  );
}

function valuesOf(account: AccountJson): Values {
  return {
    displayName: account.displayName ?? "",
    mediaRetentionDays: account.mediaRetentionDays ?? 0,
    transcriptRetentionDays: account.transcriptRetentionDays ?? 0,
    vocabularyCandidatesDisabled: account.vocabularyCandidatesDisabled ?? false,
  };
}

/** Returns what the form saves: fields with a wrong number of days are 0. */
function savedValues({ displayName, media, kept, isOffered }: Fields): Values {
  return {
    displayName: displayName.trim(),
    mediaRetentionDays: daysOf(media) ?? 0,
    transcriptRetentionDays: daysOf(kept) ?? 0,
    vocabularyCandidatesDisabled: !isOffered,
  };
}

/** Whether the new values delete what the old ones kept. */
function deletes(next: Values, before: Values): boolean {
  return (
    isShorter(next.mediaRetentionDays, before.mediaRetentionDays) ||
    isShorter(next.transcriptRetentionDays, before.transcriptRetentionDays)
  );
}

/** Calls the service, and follows the answer. */
type Track = (call: () => Promise<AccountJson>) => Promise<AccountJson>;

function useSave(track: Track, onSaved: () => void) {
  const t = useText();
  const queries = useQueryClient();
  const notify = useNotify();
  const send = async ({ values, from }: Change, through: Track): Promise<void> => {
    const body = changesOf(values, from);
    // The service refuses a change of nothing.
    if (Object.keys(body).length === 0) return;
    const account = await through(() =>
      callApi<AccountJson>("/v1/account", { method: "PATCH", body }),
    );
    showName(queries, account.displayName ?? "");
    queries.setQueryData(accountQuery.queryKey, account);
    await queries.invalidateQueries({ queryKey: ["account"] });
  };
  return useMutation({
    mutationFn: (change: Change) => send(change, track),
    onSuccess: (_, { values, from }) => {
      onSaved();
      const undo = () => send({ values: from, from: values }, async (call) => await call());
      // What a shorter retention has deleted does not come back.
      notify(t(settingsText.saved), deletes(values, from) ? null : undo);
    },
  });
}

/**
 * Shows the new name of the account in the frame, which has it from the session. The service may
 * answer with the session as it was half a second ago, so it is not asked.
 */
function showName(queries: QueryClient, displayName: string): void {
  queries.setQueryData(sessionQuery.queryKey, (session) => {
    if (!session || !isSignedIn(session)) return session;
    const account = { ...session.account, displayName };
    const accounts = session.accounts.map((each) => (each.name === account.name ? account : each));
    return { ...session, account, accounts };
  });
}

/** Returns the values that differ from those before. */
function changesOf(next: Values, before: Values): Partial<Values> {
  const changed = Object.entries(next).filter(
    ([name, value]) => new Map<string, unknown>(Object.entries(before)).get(name) !== value,
  );
  return Object.fromEntries(changed);
}
