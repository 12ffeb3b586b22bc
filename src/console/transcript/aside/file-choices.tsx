import { Choice } from "../../parts/choice.tsx";
import { fileChoicesText as texts } from "../../text/file-choices.ts";
import { useText } from "../../text/language.tsx";
import type { DocumentOptions, FileOptions, SubtitleOptions } from "./file-options.ts";

/** The intervals that can be chosen, in seconds. */
const intervals = [0, 10, 30, 60, 120, 300];
/** The lengths of lines that can be chosen, in characters. */
const lengths = [32, 37, 42, 50, 60, 80];

/** The choices of what the files of each format show. */
export function FileChoices({
  options,
  onChange,
}: {
  readonly options: FileOptions;
  readonly onChange: (options: FileOptions) => void;
}) {
  return (
    <>
      <SubtitleChoice
        options={options.subtitles}
        onChange={(subtitles) => onChange({ ...options, subtitles })}
      />
      {(["documents", "text"] as const).map((kind) => (
        <DocumentChoice
          key={kind}
          kind={kind}
          options={options[kind]}
          onChange={(changed) => onChange({ ...options, [kind]: changed })}
        />
      ))}
    </>
  );
}

function SubtitleChoice({
  options,
  onChange,
}: {
  readonly options: SubtitleOptions;
  readonly onChange: (options: SubtitleOptions) => void;
}) {
  const t = useText();
  return (
    <fieldset className="document-options">
      <legend>{t(texts.inSubtitles)}</legend>
      {(["srtSpeakers", "vttSpeakers"] as const).map((option) => (
        <label key={option}>
          <input
            type="checkbox"
            checked={options[option]}
            onChange={({ target }) => onChange({ ...options, [option]: target.checked })}
          />
          <span>{t(texts[option])}</span>
        </label>
      ))}
      <Choice
        label={t(texts.lineChars)}
        value={`${options.lineChars}`}
        options={lengths.map((chars) => ({ value: `${chars}`, text: t(texts.chars)(chars) }))}
        onChange={(value) => onChange({ ...options, lineChars: Number(value) })}
      />
      <Choice
        label={t(texts.lines)}
        value={`${options.lines}`}
        options={[1, 2].map((lines) => ({ value: `${lines}`, text: `${lines}` }))}
        onChange={(value) => onChange({ ...options, lines: Number(value) })}
      />
    </fieldset>
  );
}

function DocumentChoice({
  kind,
  options,
  onChange,
}: {
  readonly kind: "documents" | "text";
  readonly options: DocumentOptions;
  readonly onChange: (options: DocumentOptions) => void;
}) {
  const t = useText();
  return (
    <fieldset className="document-options">
      <legend>{t(texts.optionsIn[kind])}</legend>
      {(["speakers", "times", "title"] as const).map((option) => (
        <label key={option}>
          <input
            type="checkbox"
            checked={options[option]}
            onChange={({ target }) => onChange({ ...options, [option]: target.checked })}
          />
          <span>{t(texts.documentOptions[option])}</span>
        </label>
      ))}
      <Choice
        label={t(texts.timesWithin)}
        value={`${options.intervalSeconds}`}
        options={intervals.map((seconds) => ({
          value: `${seconds}`,
          text: t(texts.timesEach)(seconds),
        }))}
        onChange={(value) => onChange({ ...options, intervalSeconds: Number(value) })}
        isDisabled={!options.times}
      />
    </fieldset>
  );
}
