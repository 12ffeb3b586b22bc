import { useId } from "react";
import type { WebhookJson } from "../../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { TextInput } from "../parts/text-input.tsx";
import { violationOf } from "../parts/violation-of.tsx";
import { useText } from "../text/language.tsx";
import { webhooksText } from "../text/webhooks.ts";
import { type EventType, eventTypes } from "./webhooks-query.ts";

/** What the form of a webhook holds. */
export interface WebhookDraft {
  readonly url: string;
  readonly displayName: string;
  /** Whether the webhook is notified of all events. `chosen` counts only if it is not. */
  readonly isForAll: boolean;
  readonly chosen: readonly EventType[];
}

export function draftOf(webhook: WebhookJson = {}): WebhookDraft {
  const chosen = eventTypes.filter((type) => webhook.eventTypes?.includes(type));
  return {
    url: webhook.url ?? "",
    displayName: webhook.displayName ?? "",
    isForAll: chosen.length === 0,
    chosen,
  };
}

export function isComplete({ url, displayName, isForAll, chosen }: WebhookDraft): boolean {
  return url.trim() !== "" && !isLong(displayName) && (isForAll || chosen.length > 0);
}

/** Returns the fields of a webhook that the form changes. */
export function requestOf({ url, displayName, isForAll, chosen }: WebhookDraft) {
  return {
    url: url.trim(),
    displayName: displayName.trim(),
    eventTypes: isForAll ? [] : [...chosen],
  };
}

/** The fields whose violations the form shows itself. */
export const shownFields = ["url", "displayName", "eventTypes"] as const;

interface FieldsProps {
  readonly draft: WebhookDraft;
  readonly onChange: (draft: WebhookDraft) => void;
  /** Whether the user has tried to submit the form. Missing values are reported only then. */
  readonly isChecked: boolean;
  readonly error: unknown;
}

/** The fields of a webhook. */
export function WebhookFields({ draft, onChange, isChecked, error }: FieldsProps) {
  const t = useText();
  const isMissing = isChecked && draft.url.trim() === "";
  return (
    <>
      <TextInput
        label={t(webhooksText.url)}
        hint={t(webhooksText.urlHint)}
        problem={isMissing ? t(webhooksText.urlMissing) : violationOf(error, "url")}
        type="url"
        autoComplete="off"
        spellCheck="false"
        value={draft.url}
        onChange={(url) => onChange({ ...draft, url })}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to fill it in
        autoFocus
      />
      <TextInput
        label={t(webhooksText.name)}
        hint={t(webhooksText.nameHint)}
        problem={
          isLong(draft.displayName)
            ? t(webhooksText.nameTooLong)
            : violationOf(error, "displayName")
        }
        value={draft.displayName}
        onChange={(displayName) => onChange({ ...draft, displayName })}
      />
      <Events draft={draft} onChange={onChange} isChecked={isChecked} error={error} />
    </>
  );
}

function isLong(name: string): boolean {
  return Array.from(name).length > 200;
}

function Events({ draft, onChange, isChecked, error }: FieldsProps) {
  const t = useText();
  const id = useId();
  const { isForAll, chosen } = draft;
  const isMissing = isChecked && !isForAll && chosen.length === 0;
  const problem = isMissing ? t(webhooksText.eventsNone) : violationOf(error, "eventTypes");
  const toggle = (type: EventType) => {
    const next = eventTypes.filter((it) => chosen.includes(it) !== (it === type));
    onChange({ ...draft, chosen: next });
  };
  return (
    <fieldset className="webhook-events" aria-describedby={problem ? `${id}-problem` : undefined}>
      <legend>{t(webhooksText.events)}</legend>
      {[true, false].map((forAll) => (
        <label key={`${forAll}`}>
          <input
            type="radio"
            name={id}
            checked={isForAll === forAll}
            onChange={() => onChange({ ...draft, isForAll: forAll })}
          />
          <span>{t(forAll ? webhooksText.eventsAll : webhooksText.eventsChosen)}</span>
        </label>
      ))}
      {eventTypes.map((type) => (
        <label key={type} className="webhook-event">
          <input
            type="checkbox"
            disabled={isForAll}
            checked={!isForAll && chosen.includes(type)}
            onChange={() => toggle(type)}
          />
          <span>
            {t(webhooksText.eventOf[type])} <span className="figures">{type}</span>
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
