import { CodeSample } from "../parts/code-sample.tsx";
import { useText } from "../text/language.tsx";
import { liveText } from "../text/live.ts";
import { streamProgram } from "./stream-program.ts";
import "./stream-sample.css";

/** A program that does the same as the page, in the language chosen on the page. */
export function StreamSample({ languageCode }: { readonly languageCode: string }) {
  const t = useText();
  const label = t(liveText.asProgram);
  return (
    <details className="stream-sample">
      <summary>{label}</summary>
      <p className="hint">{t(liveText.asProgramMeaning)}</p>
      <CodeSample label={label} text={streamProgram(location.origin, languageCode)} />
    </details>
  );
}
