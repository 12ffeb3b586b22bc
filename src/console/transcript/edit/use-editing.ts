import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { identityOf } from "../../api/session.ts";
import { useSession } from "../../api/use-session.ts";
import { useLetter } from "../use-letter.ts";
import type * as editedWords from "./edited-words.tsx";
import { keptSession } from "./kept-sessions.ts";
import type { UnopenedDraft } from "./saving/find-draft.ts";
import { type ScrollPlace, scrollPlaceOf } from "./scroll-place.ts";

/** Whether the text of the page is read or edited, and where the user is in it. */
export interface Editing {
  /** The component that shows the text while it is edited; undefined while it is read. */
  readonly Text: typeof editedWords.EditedWords | undefined;
  /** The place from which the user went over; undefined at first. */
  readonly place: ScrollPlace | undefined;
  readonly begin: () => void;
  readonly end: () => void;
  /** Whether another tab of this browser edits the text. */
  readonly isElsewhere: boolean;
  /** Edits the text here; another tab that edits it stores its draft and goes to reading. */
  readonly beginHere: () => void;
  /** Goes back to reading, because another tab edits the text. */
  readonly leave: () => void;
  /** Edits the text again, with the draft that is current now. */
  readonly reopen: () => void;
  /** The draft over which nothing may be edited, because it cannot be opened for now. */
  readonly unopened: UnopenedDraft | undefined;
}

type State = Pick<Editing, "Text" | "place" | "isElsewhere" | "unopened">;

/**
 * Goes over from reading to editing, and back. The editor is only loaded when it is needed; until
 * then the text stays as it is. If `canEdit`, E begins to edit, and a text that was left
 * with unsaved changes is edited again at once.
 */
export function useEditing(
  root: RefObject<HTMLElement | null>,
  {
    canEdit,
    name,
    transcript,
  }: { readonly canEdit: boolean; readonly name: string; readonly transcript: TranscriptJson },
): Editing {
  const [state, setState] = useState<State>(reading);
  const { Text } = state;
  const change = useCallback(
    (next: Partial<State>) => {
      const ground = root.current;
      setState({ ...reading, ...next, place: ground ? scrollPlaceOf(ground) : undefined });
    },
    [root],
  );
  const owner = identityOf(useSession());
  const key = `${owner} ${name}`;
  const latest = useRef(transcript);
  useEffect(() => {
    latest.current = transcript;
  });
  const isBeginning = useRef(false);
  const isOpen = useIsOpen();
  const beginAfter = useCallback(
    (take: (module: typeof editedWords) => Promise<boolean>) => {
      if (isBeginning.current) return;
      isBeginning.current = true;
      const start = async (module: typeof editedWords): Promise<void> => {
        if (!(await take(module))) {
          change({ isElsewhere: true });
          return;
        }
        const unopened = await module.findDraft(owner, name, latest.current);
        if (isOpen.current) change(unopened ? { unopened } : { Text: module.EditedWords });
        if (unopened || !isOpen.current) module.giveText(key);
      };
      void import("./edited-words.tsx").then(start).finally(() => {
        isBeginning.current = false;
      });
    },
    [change, isOpen, owner, key, name],
  );
  const begin = useCallback(() => {
    beginAfter(({ takeText }) => takeText(key));
  }, [beginAfter, key]);
  const beginHere = useCallback(() => {
    beginAfter(async ({ takeTextOver }) => {
      await takeTextOver(key);
      return true;
    });
  }, [beginAfter, key]);
  const end = useCallback(() => change({}), [change]);
  const leave = useCallback(() => change({ isElsewhere: true }), [change]);
  const reopen = useCallback(() => {
    // The session of the text is forgotten before the next one begins.
    flushSync(end);
    begin();
  }, [end, begin]);
  useGivenText(key, Text !== undefined, leave);
  useEffect(() => {
    if (canEdit && keptSession(key)) begin();
  }, [canEdit, key, begin]);
  useLetter("e", canEdit && Text === undefined, begin);
  return { ...state, begin, beginHere, end, leave, reopen };
}

const reading: State = {
  Text: undefined,
  place: undefined,
  isElsewhere: false,
  unopened: undefined,
};

/**
 * Lets other tabs edit the text when it is closed or hidden without unsaved changes. Calls
 * `onTaken` if another tab edits it when it is shown again.
 */
function useGivenText(key: string, isEditing: boolean, onTaken: () => void): void {
  useEffect(() => {
    if (!isEditing) return undefined;
    void import("./edited-words.tsx").then(async ({ takeText }) => {
      if (!(await takeText(key))) onTaken();
    });
    return () => {
      // The session of the text is kept or forgotten in the same turn.
      setTimeout(() => {
        if (keptSession(key)) return;
        void import("./edited-words.tsx").then(({ giveText }) => giveText(key));
      });
    };
  }, [key, isEditing, onTaken]);
}

/** Whether the component is still on the page. */
function useIsOpen(): { readonly current: boolean } {
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  return isOpen;
}
