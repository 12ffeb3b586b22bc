import { type ReactNode, useId } from "react";
import { useSession } from "../api/use-session.ts";
import { violationOf } from "../parts/violation-of.tsx";
import { useNow } from "../text/use-now.ts";
import { Choice } from "../parts/choice.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { expiries, today } from "./expiry.ts";
import { type Scope, scopes } from "./key.ts";
import type { KeyDraft } from "./key-draft.ts";
import { LimitFields } from "./limit-fields.tsx";
import "./key-form.css";

interface DraftProps {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
  /** Whether the user has tried to submit the form. Missing values are reported only then. */
  readonly isChecked: boolean;
  readonly error: unknown;
}

/**
 * The fields that both kinds of keys have: a name, scopes, an expiry and limits. Only the user's
 * own scopes are offered.
 */
export function KeyFields({ draft, onChange, isChecked, error }: DraftProps) {
  const t = useText();
  const now = useNow();
  const { displayName, expiry, day } = draft;
  const isDayWrong = isChecked && draft.expireTime(now) === "missing";
  const isNameLong = Array.from(displayName).length > 200;
  return (
    <>
      <TextInput
        label={t(keysText.name)}
        hint={t(keysText.nameHint)}
        problem={isNameLong ? t(keysText.nameTooLong) : violationOf(error, "displayName")}
        value={displayName}
        onChange={(name) => onChange(draft.with({ displayName: name }))}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to fill it in
        autoFocus
      />
      <Scopes draft={draft} onChange={onChange} isChecked={isChecked} error={error} />
      <Choice
        label={t(keysText.expiry)}
        value={expiry}
        options={expiries.map((value) => ({ value, text: t(keysText.expiryOf[value]) }))}
        onChange={(chosen) => onChange(draft.with({ expiry: chosen }))}
      />
      {expiry === "date" && (
        <DayField
          label={t(keysText.day)}
          value={day}
          problem={isDayWrong ? t(keysText.dayMissing) : violationOf(error, "expireTime")}
          onChange={(chosen) => onChange(draft.with({ day: chosen }))}
        />
      )}
      <LimitFields
        limits={draft.limits}
        onChange={(limits) => onChange(draft.with({ limits }))}
        isChecked={isChecked}
        error={error}
      />
    </>
  );
}

function Scopes({ draft, onChange, isChecked, error }: DraftProps) {
  const t = useText();
  const id = useId();
  const session = useSession();
  const isMissing = isChecked && draft.scopes.length === 0;
  const problem = isMissing ? t(keysText.scopesNone) : violationOf(error, "scopes");
  const toggle = (scope: Scope) => {
    const isGiven = draft.scopes.includes(scope);
    const given = scopes.filter((it) => (it === scope ? !isGiven : draft.scopes.includes(it)));
    onChange(draft.with({ scopes: given }));
  };
  return (
    <fieldset className="key-scopes" aria-describedby={problem ? `${id}-problem` : undefined}>
      <legend>{t(keysText.scopes)}</legend>
      {scopes
        .filter((scope) => session.scopes.includes(scope))
        .map((scope) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={draft.scopes.includes(scope)}
              onChange={() => toggle(scope)}
              aria-describedby={`${id}-${scope}`}
            />
            <span className="figures">{scope}</span>
            <span id={`${id}-${scope}`} className="hint">
              {t(keysText.scopeOf[scope])}
            </span>
          </label>
        ))}
      {problem !== undefined && (
        <p id={`${id}-problem`} className="hint failed" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

/**
 * A field for a day from today, at most until `max`, with the browser's own date input. Days are
 * values of date inputs.
 */
export function DayField({
  label,
  value,
  max,
  problem,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly max?: string;
  readonly problem: ReactNode;
  readonly onChange: (day: string) => void;
}) {
  const id = useId();
  const now = useNow();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="date"
        className="input"
        min={today(now)}
        max={max}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        aria-invalid={problem !== undefined}
        aria-describedby={problem ? `${id}-problem` : undefined}
      />
      {problem !== undefined && (
        <p id={`${id}-problem`} className="hint failed" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
