import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { identityOf } from "../../../api/session.ts";
import { useSession } from "../../../api/use-session.ts";
import type { Editor } from "../editor/editor.ts";
import { keptSession } from "../kept-sessions.ts";
import { encodeDraft } from "../model/draft.ts";
import { dropOldDrafts } from "./draft-database.ts";
import type { SessionRef } from "../use-session-ref.ts";
import { DraftKeeper, type DraftState } from "./draft-keeper.ts";

const nothingKept: DraftState = {
  here: "none",
  service: "none",
  elsewhere: undefined,
  others: [],
};
const neverChanges = () => () => {};

/** Keeps the draft of a text while it is edited. */
export function useDraft(
  editor: Editor,
  session: SessionRef,
  name: string,
): {
  readonly keeper: DraftKeeper | undefined;
  readonly draft: DraftState;
  readonly foundFrom: Date | undefined;
} {
  const owner = identityOf(useSession());
  const key = `${owner} ${name}`;
  const [found] = useState(() => keptSession(key));
  const [keeper, setKeeper] = useState<DraftKeeper>();
  const isAgain = useRef(found !== undefined && !found.foundFrom);
  useEffect(() => {
    const opened = new DraftKeeper({
      owner,
      name,
      baseVersion: () => session.read().openedVersion,
      current: () => {
        const { base, openedVersion, saved } = session.read();
        return {
          draft: encodeDraft({
            base,
            version: openedVersion,
            paragraphs: editor.paragraphs(),
            retimings: editor.retimings(),
          }),
          speakers: editor.speakers(),
          savedVersion: saved.version ?? openedVersion,
        };
      },
    });
    // oxlint-disable-next-line react/set-state-in-effect -- the keeper listens until it is disposed of
    setKeeper(opened);
    // Old drafts are not in the way of anything.
    void dropOldDrafts().catch(() => {});
    // The last draft before the text was left or hidden may not be on the service.
    if (isAgain.current) opened.changed();
    const stop = editor.subscribe(() => opened.changed());
    return () => {
      isAgain.current = opened.hasDraft;
      stop();
      opened[Symbol.dispose]();
    };
  }, [editor, session, owner, name]);
  const subscribe = useCallback(
    (listener: () => void) => (keeper ? keeper.subscribe(listener) : neverChanges()),
    [keeper],
  );
  const draft = useSyncExternalStore(subscribe, () => keeper?.state ?? nothingKept);
  return { keeper, draft, foundFrom: found?.foundFrom };
}
