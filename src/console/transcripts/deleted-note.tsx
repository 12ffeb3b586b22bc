import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { focusTitleAfter } from "../parts/focus-title-after.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { asideDialogText } from "../text/aside-dialogs.ts";
import { binText } from "../text/bin.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { restoreFromBin } from "./bin-calls.ts";
import { newLists } from "./kept-lists.ts";
import "../parts/note.css";

/** A transcript that was deleted on its page; `name` is "" if it is not in the bin. */
export interface Deleted {
  readonly subject: string;
  readonly name: string;
}

/**
 * A note that a transcript was deleted, on the list that is shown afterwards. One that is in the
 * bin can be taken out again.
 */
export function DeletedNote() {
  const t = useText();
  const notify = useNotify();
  const queries = useQueryClient();
  // The state is read once, because the history entry's state is overwritten later.
  const [deleted, setDeleted] = useState(deletedHere);
  const undo = useMutation({
    mutationFn: async ({ name }: Deleted) => restoreFromBin([name]),
    onSuccess: ({ names = [] }, { subject }) => {
      setDeleted(undefined);
      notify(
        t(names.length > 0 ? asideDialogText.takenFromBin : asideDialogText.notInBin)(subject),
      );
      void queries.invalidateQueries({ queryKey: ["bin"] });
      newLists();
    },
  });
  if (deleted === undefined) return null;
  const { subject, name } = deleted;
  if (name === "") return <p className="note">{t(asideDialogText.removedTranscript)(subject)}</p>;
  return (
    <div className="note" ref={focusTitleAfter}>
      <span>
        {t(asideDialogText.binnedTranscript)(subject)} <Link to="/bin">{t(binText.open)}</Link>
      </span>
      <Button isPending={undo.isPending} onPress={() => undo.mutate(deleted)}>
        {t(commonText.undo)}
      </Button>
      {undo.error && <ProblemNote error={undo.error} />}
    </div>
  );
}

function deletedHere(): Deleted | undefined {
  const state: unknown = history.state;
  if (typeof state !== "object" || state === null || !("deleted" in state)) return undefined;
  const { deleted } = state;
  if (typeof deleted !== "object" || deleted === null) return undefined;
  if (!("subject" in deleted && "name" in deleted)) return undefined;
  const { subject, name } = deleted;
  return typeof subject === "string" && typeof name === "string" ? { subject, name } : undefined;
}
