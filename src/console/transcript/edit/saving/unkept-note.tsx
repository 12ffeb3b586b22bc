import { Button } from "../../../parts/button.tsx";
import { useText } from "../../../text/language.tsx";
import { draftsText } from "../../../text/transcript-drafts.ts";
import { presenceText } from "../../../text/transcript-presence.ts";
import type { Editor } from "../editor/editor.ts";
import type { DraftState } from "./draft-keeper.ts";
import { saveAsFile } from "./save-as-file.ts";

/**
 * Says that the draft is kept nowhere and why, and offers the text as a file, if both the browser
 * and the service have refused it. It is in the editor's file, since it may be needed offline.
 */
export function UnkeptNote({
  draft: { here, service },
  editor,
  name,
}: {
  readonly draft: DraftState;
  readonly editor: Editor;
  /** The name of the transcript. */
  readonly name: string;
}) {
  const t = useText();
  if (here !== "failed" || service === "none" || service === "kept") return null;
  return (
    <div className="note problem" role="alert">
      <p>
        <strong>{t(draftsText.nowhere)(t(draftsText.whyNot[service]))}</strong>{" "}
        {t(draftsText.beforeClosing)}
      </p>
      <Button onPress={() => saveAsFile(editor, name)}>{t(presenceText.saveText)}</Button>
    </div>
  );
}
