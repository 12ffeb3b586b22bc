/** The draft of a text that is open in this tab. */
export interface OpenDraft {
  /** The user (identityOf) whose draft it is. */
  readonly owner: string;
  /** The name of the transcript. */
  readonly name: string;
  /** Whether there are changes since the last version. */
  readonly hasDraft: boolean;
  readonly isOnService: boolean;
  /** Stores what is not stored yet, in this browser and on the service. */
  flush(): Promise<void>;
  /** Stores nothing more. */
  close(): void;
}

const open = new Set<OpenDraft>();

/** Adds a draft until it is removed with the function that is returned. */
export function addOpenDraft(draft: OpenDraft): () => void {
  open.add(draft);
  return () => open.delete(draft);
}

/** Returns the drafts with changes of a user that are open in this tab. */
export function openDrafts(owner: string): readonly OpenDraft[] {
  return [...open].filter((draft) => draft.owner === owner && draft.hasDraft);
}

/** Stores no draft of this tab any more, because its user has signed out. */
export function closeDrafts(): void {
  for (const draft of open) draft.close();
}
