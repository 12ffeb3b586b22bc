import { ApiError } from "../../../api/api-error.ts";
import { Button } from "../../../parts/button.tsx";
import { SaidDetail } from "../../../parts/said-text.tsx";
import { useText } from "../../../text/language.tsx";
import { problemOf } from "../../../text/problems.ts";
import { presenceText } from "../../../text/transcript-presence.ts";
import { saveProblems, savingText } from "../../../text/transcript-saving.ts";
import type { Editor } from "../editor/editor.ts";
import { showPlace } from "../editor/show-place.ts";
import type { SaveProblem } from "../model/problems.ts";
import { UnsavableTextError } from "../model/unsavable-text.ts";
import type { Save } from "../use-save.ts";
import { saveAsFile } from "./save-as-file.ts";
import type { SaveWait } from "./use-save-waits.ts";

/** The errors after which no version of this text can be saved, so that a file is offered. */
const fileReasons: ReadonlySet<string> = new Set(["TRANSCRIPT_NOT_FOUND", "PAYLOAD_TOO_LARGE"]);

/** Why the text is not saved yet, and what the user can do. */
export function SaveNote({
  save: { error, wait },
  editor,
  name,
  onJump,
}: {
  readonly save: Save;
  readonly editor: Editor;
  /** The name of the transcript. */
  readonly name: string;
  /** Is called before the caret goes to the place of a problem. */
  readonly onJump?: () => void;
}) {
  const t = useText();
  if (wait) return <WaitNote wait={wait} />;
  if (!error) return null;
  if (error instanceof UnsavableTextError) {
    const jump = (problem: SaveProblem): void => {
      onJump?.();
      goTo(editor, problem);
    };
    return <UnsavableNote problems={error.problems} onJump={jump} />;
  }
  const { sentence, next, detail } = problemOf(error, saveProblems);
  const isFile =
    error instanceof ApiError && (fileReasons.has(error.reason) || error.status === 403);
  return (
    <div className="note problem" role="alert">
      <p>
        <strong>{t(sentence)}</strong> {t(next)} {t(savingText.stays)}
        <SaidDetail detail={detail} />
      </p>
      {isFile && (
        <Button onPress={() => saveAsFile(editor, name)}>{t(presenceText.saveText)}</Button>
      )}
    </div>
  );
}

function UnsavableNote({
  problems,
  onJump,
}: {
  readonly problems: readonly SaveProblem[];
  readonly onJump: (problem: SaveProblem) => void;
}) {
  const t = useText();
  return (
    <div className="note problem" role="alert">
      <p>
        <strong>{t(savingText.unsavable)}</strong> {t(savingText.stays)}
      </p>
      <ul>
        {problems.map((problem) => (
          <li key={`${problem.kind} ${problem.paragraph} ${problem.offset}`}>
            {problem.kind === "invalidCharacter"
              ? t(savingText.invalidCharacter)
              : t(savingText[problem.kind])(problem.count, problem.limit)}{" "}
            <Button onPress={() => onJump(problem)}>{t(savingText.toPlace)}</Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Puts the caret where a problem is, or near it if the text was edited since. */
function goTo(editor: Editor, { paragraph, offset }: SaveProblem): void {
  const paragraphs = editor.paragraphs();
  const at = Math.min(paragraph, paragraphs.length - 1);
  const length = paragraphs[at]?.text.length ?? 0;
  // A dialog holds the focus until it is gone.
  requestAnimationFrame(() => {
    showPlace(editor, { paragraph: at, offset: Math.min(offset, length) });
    editor.view.focus();
  });
}

function WaitNote({ wait: { error, seconds, tryNow, stop } }: { readonly wait: SaveWait }) {
  const t = useText();
  const { sentence, detail } = problemOf(error);
  const isOffline = error.reason === "OFFLINE";
  return (
    <output className="note">
      <span>
        {isOffline ? (
          t(savingText.offline)
        ) : (
          <>
            <strong>{t(sentence)}</strong> {t(savingText.waits)(seconds)}
            <SaidDetail detail={detail} />
          </>
        )}
      </span>
      <span className="dialog-actions">
        <Button onPress={stop}>{t(savingText.stop)}</Button>
        <Button onPress={tryNow}>{t(savingText.tryNow)}</Button>
      </span>
    </output>
  );
}
