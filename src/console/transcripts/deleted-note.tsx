import { useState } from "react";
import { useText } from "../text/language.tsx";
import { asideDialogText } from "../text/aside-dialogs.ts";
import "../parts/note.css";

/** A note that a transcript was deleted, on the list that is shown afterwards. */
export function DeletedNote() {
  const t = useText();
  // The state is read once, because the history entry's state is overwritten later.
  const [deleted] = useState(deletedHere);
  if (deleted === undefined) return null;
  return <p className="note">{t(asideDialogText.removedTranscript)(deleted)}</p>;
}

function deletedHere(): string | undefined {
  const state: unknown = history.state;
  if (typeof state !== "object" || state === null || !("deleted" in state)) return undefined;
  return typeof state.deleted === "string" ? state.deleted : undefined;
}
