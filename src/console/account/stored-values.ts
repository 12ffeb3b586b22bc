import { useState } from "react";

/** Fields of a form that change together. */
export interface FormPart<Values> {
  readonly fields: readonly (keyof Values)[];
  /** Returns the fields as a text by which they are compared. */
  readonly textOf: (values: Values) => string;
}

/**
 * Returns the stored values, with those of the form that the user has changed. `base` is what the
 * form had when it was last the same as what is stored: the stored values of then, or those that
 * were sent to be saved.
 */
export function mergedValues<Values extends object>(
  parts: readonly FormPart<Values>[],
  { now, base, stored }: { readonly now: Values; readonly base: Values; readonly stored: Values },
): Values {
  const merged = { ...now };
  for (const { fields, textOf } of parts) {
    const text = textOf(now);
    // What is the same may be written differently: a line or a space may be being typed.
    if (text !== textOf(base) || text === textOf(stored)) continue;
    for (const field of fields) merged[field] = stored[field];
  }
  return merged;
}

/**
 * Returns the values of a form whose stored values can change: by a save, or by others meanwhile.
 * Fields that the user has not changed show what is stored. A field that is set back to its old
 * value after a save was sent has been changed, too.
 */
export function useStoredValues<Stored, Values extends object>(
  stored: Stored,
  valuesOf: (stored: Stored) => Values,
  parts: readonly FormPart<Values>[],
) {
  const [before, setBefore] = useState(() => valuesOf(stored));
  const [shown, setShown] = useState(stored);
  const [values, setValues] = useState(before);
  const [sent, setSent] = useState<{ readonly values: Values; readonly answer?: Stored }>();
  // What was read while a save was on its way may be from before it: its answer is newer.
  const newest = sent ? sent.answer : stored !== shown ? stored : undefined;
  if (newest !== undefined) {
    const next = valuesOf(newest);
    setShown(stored);
    setBefore(next);
    setSent(undefined);
    setValues(mergedValues(parts, { now: values, base: sent?.values ?? before, stored: next }));
  }
  const send = async (save: () => Promise<Stored>): Promise<Stored> => {
    setSent({ values });
    try {
      const answer = await save();
      setSent({ values, answer });
      return answer;
    } catch (error) {
      setSent(undefined);
      throw error;
    }
  };
  return {
    /** The values that are stored. */
    before,
    values,
    change: (fields: Partial<Values>): void => setValues((now) => ({ ...now, ...fields })),
    /** Saves the values of the form by `save`. */
    send,
  };
}
