import { saveFile } from "../../../parts/save-file.ts";
import type { Editor } from "../editor/editor.ts";
import { plainText } from "../presence/plain-text.ts";

/** Saves the text of a transcript as a file of the user. `name` is transcripts/<transcript_id>. */
export function saveAsFile(editor: Editor, name: string): void {
  const text = plainText(editor.paragraphs(), editor.speakers());
  const file = new Blob([text], { type: "text/plain;charset=utf-8" });
  saveFile(file, `${name.split("/").at(-1)}.txt`);
}
