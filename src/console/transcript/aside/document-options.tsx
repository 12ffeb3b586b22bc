import { Choice } from "../../parts/choice.tsx";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";

/** What a file with paragraphs shows; the names are those of ExportOptions. */
export interface DocumentOptions {
  readonly speakers: boolean;
  readonly times: boolean;
  readonly title: boolean;
  /** The seconds after which a paragraph has another time; 0 for none. */
  readonly intervalSeconds: number;
}

/** The options of the formats at first: those that the service has by itself. */
export const firstOptions = {
  documents: { speakers: true, times: true, title: true, intervalSeconds: 0 },
  text: { speakers: true, times: false, title: false, intervalSeconds: 0 },
} as const satisfies Readonly<Record<string, DocumentOptions>>;

/** The intervals that can be chosen, in seconds. */
const intervals = [0, 10, 30, 60, 120, 300];

/** Returns the options as query parameters of :export. */
export function optionsQuery({
  speakers,
  times,
  title,
  intervalSeconds,
}: DocumentOptions): Record<string, string> {
  return {
    "options.speakers": `${speakers}`,
    "options.times": times ? "PARAGRAPH" : "NONE",
    "options.title": `${title}`,
    "options.intervalSeconds": `${times ? intervalSeconds : 0}`,
  };
}

/** The choice of what files of some formats show. */
export function DocumentChoice({
  legend,
  options,
  onChange,
}: {
  readonly legend: string;
  readonly options: DocumentOptions;
  readonly onChange: (options: DocumentOptions) => void;
}) {
  const t = useText();
  return (
    <fieldset className="document-options">
      <legend>{legend}</legend>
      {(["speakers", "times", "title"] as const).map((option) => (
        <label key={option}>
          <input
            type="checkbox"
            checked={options[option]}
            onChange={({ target }) => onChange({ ...options, [option]: target.checked })}
          />
          <span>{t(asideText.documentOptions[option])}</span>
        </label>
      ))}
      <Choice
        label={t(asideText.timesWithin)}
        value={`${options.intervalSeconds}`}
        options={intervals.map((seconds) => ({
          value: `${seconds}`,
          text: t(asideText.timesEach)(seconds),
        }))}
        onChange={(value) => onChange({ ...options, intervalSeconds: Number(value) })}
        isDisabled={!options.times}
      />
    </fieldset>
  );
}
