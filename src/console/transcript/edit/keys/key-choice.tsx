import { useEffect, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { editKeysText } from "../../../text/edit-keys.ts";
import { useText } from "../../../text/language.tsx";
import { type Chord, chordOf, problemOf } from "./chord.ts";
import { type ChosenKeys, type CommandId, isFixed, keysOf, withKey } from "./command-table.ts";

/** The maximum number of keys of one command. */
const keysMax = 8;

/** Why a key that was pressed is not added to a command. */
type KeyProblem = ReturnType<typeof problemOf> | "fixed";

const problemTexts = {
  types: editKeysText.keyTypes,
  taken: editKeysText.keyTaken,
  fixed: editKeysText.keyFixed,
} as const;

/**
 * The keys of one command, which can be removed unless they are fixed, and a button that adds the
 * key pressed next.
 */
export function KeyChoice({
  id,
  chosen,
  onChange,
}: {
  readonly id: CommandId;
  readonly chosen: ChosenKeys;
  readonly onChange: (chosen: ChosenKeys) => void;
}) {
  const t = useText();
  const [problem, setProblem] = useState<KeyProblem>();
  const keys = keysOf(id, chosen);
  const name = t(editKeysText[id]);
  const [isListening, setListening] = useNextKey((chord) => {
    const found = isFixed(chord) ? "fixed" : problemOf(chord);
    setProblem(found);
    if (!found) onChange(withKey(chosen, id, chord));
  });
  return (
    <div className="key-choice">
      <dt>{name}</dt>
      <dd>
        {keys.map((chord) =>
          isFixed(chord) ? (
            <kbd key={chord} className="key-fixed">
              {chord}
            </kbd>
          ) : (
            <button
              key={chord}
              type="button"
              className="key-chord"
              aria-label={t(editKeysText.removeKey)(chord, name)}
              onClick={() => onChange({ ...chosen, [id]: keys.filter((key) => key !== chord) })}
            >
              <kbd>{chord}</kbd> <span aria-hidden>×</span>
            </button>
          ),
        )}
        <Button
          look="quiet"
          isDisabled={keys.length >= keysMax}
          aria-label={t(editKeysText.addKeyTo)(name)}
          onPress={() => {
            setProblem(undefined);
            setListening(!isListening);
          }}
        >
          {t(isListening ? editKeysText.pressKey : editKeysText.addKey)}
        </Button>
        {chosen[id] && (
          <Button
            look="quiet"
            aria-label={t(editKeysText.resetKeysOf)(name)}
            onPress={() => {
              const { [id]: _, ...others } = chosen;
              onChange(others);
            }}
          >
            {t(editKeysText.reset)}
          </Button>
        )}
        {problem && (
          <p className="hint failed" role="alert">
            {t(problemTexts[problem])}
          </p>
        )}
      </dd>
    </div>
  );
}

/** Returns whether the next key is passed to `onKey`, and a function that changes this. */
function useNextKey(
  onKey: (chord: Chord) => void,
): readonly [isListening: boolean, listen: (isListening: boolean) => void] {
  const [isListening, setListening] = useState(false);
  useEffect(() => {
    if (!isListening) return undefined;
    const press = (event: KeyboardEvent): void => {
      const chord = chordOf(event);
      if (chord === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      setListening(false);
      onKey(chord);
    };
    addEventListener("keydown", press, { capture: true });
    return () => removeEventListener("keydown", press, { capture: true });
  }, [isListening, onKey]);
  return [isListening, setListening];
}
