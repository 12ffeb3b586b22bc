import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { DialogBox } from "../../../parts/dialog-box.tsx";
import { commonText } from "../../../text/common.ts";
import { useText } from "../../../text/language.tsx";
import { clockText } from "../../../text/numbers.ts";
import { mergeText as texts } from "../../../text/transcript-merge.ts";
import type { Playback } from "../../playback.ts";
import type { EditSession } from "../edit-session.ts";
import type { Speakers } from "../editor/schema.ts";
import type { Clash } from "../model/merge.ts";
import type { Choice } from "./after-choices.ts";
import type { Joinable } from "./compared-with-current.ts";
import "./clash-dialog.css";

const choices = ["mine", "theirs", "both"] as const;

/** Asks what to take where two people have changed the same words. */
export function ClashDialog({
  asked,
  speakers,
  playback,
  onChosen,
  onClose,
}: {
  readonly asked: Joinable;
  readonly speakers: Speakers;
  readonly playback: Playback | undefined;
  readonly onChosen: (choices: readonly Choice[]) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const { theirs, joined } = asked;
  const { clashes } = joined;
  const [chosen, setChosen] = useState<readonly (Choice | undefined)[]>([]);
  // Choices about an earlier version, or about an earlier text, are none about this one.
  const [askedBefore, setAskedBefore] = useState(asked);
  if (asked !== askedBefore) {
    setAskedBefore(asked);
    setChosen([]);
  }
  const left = clashes.filter((_, at) => !chosen[at]).length;
  return (
    <DialogBox title={t(texts.title)} isOpen onClose={onClose}>
      <p>{t(texts.explanation)}</p>
      <ol className="clashes">
        {clashes.map((clash, at) => (
          <li key={t(texts.clashName)(at + 1, clashes.length)}>
            <ClashChoice
              name={t(texts.clashName)(at + 1, clashes.length)}
              clash={clash}
              seconds={timeOf(clash, theirs, joined)}
              speakers={speakers}
              playback={playback}
              value={chosen[at]}
              onChange={(choice) => {
                const next = clashes.map((_, index) => chosen[index]);
                next[at] = choice;
                setChosen(next);
              }}
            />
          </li>
        ))}
      </ol>
      <output>{t(texts.left)(left)}</output>
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.cancel)}</Button>
        <Button
          look="primary"
          isDisabled={left > 0}
          onPress={() => onChosen(chosen.map((choice) => choice ?? "mine"))}
        >
          {t(texts.save)}
        </Button>
      </div>
    </DialogBox>
  );
}

function ClashChoice({
  name,
  clash,
  seconds,
  speakers,
  playback,
  value,
  onChange,
}: {
  readonly name: string;
  readonly clash: Clash;
  /** When its words are said. */
  readonly seconds: number;
  readonly speakers: Speakers;
  readonly playback: Playback | undefined;
  readonly value: Choice | undefined;
  readonly onChange: (choice: Choice) => void;
}) {
  const t = useText();
  const options = choices.filter((choice) => choice !== "both" || clash.kind === "words");
  return (
    <fieldset className="clash">
      <legend>{name}</legend>
      {playback && (
        <Button
          look="quiet"
          onPress={() => {
            playback.seek(seconds);
            playback.play();
          }}
        >
          {t(texts.play)(clockText(seconds))}
        </Button>
      )}
      {options.map((choice) => (
        <label key={choice}>
          <input
            type="radio"
            name={name}
            checked={value === choice}
            onChange={() => onChange(choice)}
          />{" "}
          <strong>{t(texts[choice])}</strong> {wordsOf(clash, choice, speakers) || t(texts.nothing)}
        </label>
      ))}
    </fieldset>
  );
}

/** Returns when the words of a clash are said, in seconds. */
function timeOf(clash: Clash, { base }: EditSession, { paragraphs }: Joinable["joined"]): number {
  const word = clash.kind === "words" ? clash.run.from : (paragraphs[clash.paragraph]?.from ?? 0);
  return base.starts[Math.min(word, base.starts.length - 1)] ?? 0;
}

function wordsOf(clash: Clash, choice: Choice, speakers: Speakers): string {
  if (clash.kind === "speaker") {
    const id = choice === "theirs" ? clash.theirs : clash.mine;
    return (Object.hasOwn(speakers, id) && speakers[id]?.fullName) || id;
  }
  const text = { mine: clash.mine, theirs: clash.theirs, both: [...clash.mine, ...clash.theirs] };
  return text[choice].join(" ").replaceAll(/\s+/g, " ").trim();
}
