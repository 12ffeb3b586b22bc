import { memo } from "react";
import type { BrokenRule } from "../../../../cues/broken-rules.ts";
import { useLanguage } from "../../../text/language.tsx";
import { clockTenths } from "../../../text/numbers.ts";
import { ruleText } from "../../subtitles/rule-text.ts";

/** A subtitle of the edited text, with its time, its speaker and the rules that it breaks. */
export const CueRow = memo(function CueRow({
  at,
  startMs,
  lines,
  speaker,
  broken,
  onChoose,
}: {
  /** The index of the subtitle. */
  readonly at: number;
  readonly startMs: number;
  readonly lines: readonly string[];
  /** The name of the speaker; undefined if the subtitle above has the same one. */
  readonly speaker: string | undefined;
  readonly broken: readonly BrokenRule[];
  readonly onChoose: (at: number) => void;
}) {
  const { language } = useLanguage();
  return (
    <li>
      <button
        type="button"
        className="edit-cue"
        data-cue={at}
        tabIndex={-1}
        onClick={() => onChoose(at)}
      >
        <span className="edit-cue-head">
          <span className="edit-cue-time">{clockTenths(language, startMs / 1000)}</span>{" "}
          {speaker !== undefined && <b>{speaker}</b>}
        </span>{" "}
        <span className="edit-cue-lines">{lines.join("\n")}</span>
        {broken.length > 0 && (
          <span className="edit-cue-broken">
            {" "}
            {broken.map((rule) => ruleText(language, rule)).join(" · ")}
          </span>
        )}
      </button>
    </li>
  );
});
