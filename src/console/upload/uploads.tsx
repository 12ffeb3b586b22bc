import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";
import { useLocation } from "wouter";
import { identityOf, isSignedIn, type Session, sessionQuery } from "../api/session.ts";
import { emptyDraft, type JobDraft } from "../jobs/job-draft.ts";
import { useNotify } from "../parts/announcer.tsx";
import { useText } from "../text/language.tsx";
import { uploadText } from "../text/upload.ts";
import { FileDrop } from "./file-drop.tsx";
import { subjectOfName } from "./subject-of.ts";
import { LateQueue } from "./late-queue.ts";
import type { QueuedUpload } from "./upload-queue.ts";

interface Uploads {
  /** Pages use it by useUploadQueue(). */
  readonly queue: LateQueue;
  /** The uploads of the signed-in user. */
  readonly uploads: readonly QueuedUpload[];
  readonly draft: JobDraft;
  readonly change: (fields: Partial<JobDraft>) => void;
  /** Adds files to the draft, and opens it. */
  readonly take: (files: Iterable<File>) => void;
}

const Context = createContext<Uploads | undefined>(undefined);

/**
 * Provides state that outlives the pages: uploads, and the draft of a new job. The browser asks for
 * confirmation before the user leaves the console during an upload. A file dropped anywhere is
 * added to the draft, or imported if it is subtitles or text.
 */
export function UploadsProvider({ children }: { readonly children: ReactNode }) {
  const queue = useQueue();
  const session = useSessionOrNone();
  const owner = session && identityOf(session);
  useEffect(() => queue.setOwner(owner), [queue, owner]);
  const all = useSyncExternalStore(queue.subscribe, queue.read);
  useLeaveQuestion(all.length > 0);
  const uploads = useMemo(() => all.filter((upload) => upload.owner === owner), [all, owner]);
  const [{ author, draft }, setDraft] = useState({ author: owner, draft: emptyDraft });
  // A draft belongs to the user who typed it, and is still available when the same user returns.
  if (owner !== undefined && owner !== author) setDraft({ author: owner, draft: emptyDraft });
  // A response may arrive after the draft has been assigned to another user.
  const change = useCallback(
    (fields: Partial<JobDraft>) =>
      setDraft((now) =>
        now.author === owner ? { ...now, draft: { ...now.draft, ...fields } } : now,
      ),
    [owner],
  );
  const take = useCallback((files: Iterable<File>) => {
    const taken = Array.from(files, (file) => ({
      id: crypto.randomUUID(),
      file,
      subject: subjectOfName(file.name),
    }));
    setDraft(({ author, draft }) => ({
      author,
      draft: { ...draft, isOpen: true, way: "FILES", files: [...draft.files, ...taken] },
    }));
  }, []);
  const [, goTo] = useLocation();
  const mayWrite = session?.scopes.includes("transcripts.write") === true;
  const onDrop = (files: readonly File[]): void => {
    const transcribe = (): void => {
      take(files);
      goTo("/jobs");
    };
    // What is done with other files is loaded when some are dropped.
    void import("./drop-files.ts").then(
      ({ dropFiles }) => dropFiles(files, { transcribe, goTo }),
      transcribe,
    );
  };
  const value = useMemo(
    () => ({ queue, uploads, draft, change, take }),
    [queue, uploads, draft, change, take],
  );
  return (
    <Context value={value}>
      {children}
      <FileDrop onFiles={mayWrite ? onDrop : undefined} />
    </Context>
  );
}

export function useUploads(): Uploads {
  const uploads = useContext(Context);
  if (!uploads) throw new Error("there is no UploadsProvider above");
  return uploads;
}

function useQueue(): LateQueue {
  const t = useText();
  const announce = useNotify();
  const queries = useQueryClient();
  const [queue] = useState(() => new LateQueue());
  useEffect(
    () =>
      queue.whenSubmitted(({ request, transcript, file }) => {
        if (transcript !== undefined) {
          announce(t(uploadText.added)(file.name));
          void queries.invalidateQueries({ queryKey: ["transcript", transcript] });
          return;
        }
        announce(t(uploadText.submitted)(request.metadata?.subject ?? ""));
        void queries.invalidateQueries({ queryKey: ["jobs"] });
      }),
    [queue, t, announce, queries],
  );
  return queue;
}

/** The session, if it is already known; this hook does not fetch it. */
function useSessionOrNone(): Session | undefined {
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  return data && isSignedIn(data) ? data : undefined;
}

/** Makes the browser ask for confirmation, in its own words, before the user leaves the page. */
function useLeaveQuestion(isAsked: boolean): void {
  useEffect(() => {
    if (!isAsked) return undefined;
    const ask = (event: Event): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isAsked]);
}
