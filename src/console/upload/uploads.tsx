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
import { useAnnounce } from "../parts/announcer.tsx";
import { useText } from "../text/language.tsx";
import { uploadText } from "../text/upload.ts";
import { FileDrop } from "./file-drop.tsx";
import { subjectOfName } from "./media-kind.ts";
import { UploadQueue, type QueuedUpload } from "./upload-queue.ts";

interface Uploads {
  readonly queue: UploadQueue;
  /** Those of whoever is signed in. */
  readonly uploads: readonly QueuedUpload[];
  readonly draft: JobDraft;
  readonly change: (fields: Partial<JobDraft>) => void;
  /** Takes files into the draft, and opens it. */
  readonly take: (files: Iterable<File>) => void;
}

const Context = createContext<Uploads | undefined>(undefined);

/**
 * What outlasts the pages: files on their way, and what is typed for a new job. Whoever would leave
 * the console while files are on their way is asked. A file that is dropped anywhere becomes part
 * of the draft.
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
  // What one has typed is for nobody else; it is there when the same person comes back.
  if (owner !== undefined && owner !== author) setDraft({ author: owner, draft: emptyDraft });
  // What was sent by one may be answered when the draft is another's.
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
    take(files);
    goTo("/jobs");
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

function useQueue(): UploadQueue {
  const t = useText();
  const announce = useAnnounce();
  const queries = useQueryClient();
  const [queue] = useState(() => new UploadQueue());
  useEffect(
    () =>
      queue.whenSubmitted(({ metadata }) => {
        announce(t(uploadText.submitted)(metadata.subject ?? ""));
        void queries.invalidateQueries({ queryKey: ["jobs"] });
      }),
    [queue, t, announce, queries],
  );
  return queue;
}

/** The session that is there, or not: it is asked for by those who show it. */
function useSessionOrNone(): Session | undefined {
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  return data && isSignedIn(data) ? data : undefined;
}

/** The browser asks, in its own words, before it leaves the page. */
function useLeaveQuestion(isAsked: boolean): void {
  useEffect(() => {
    if (!isAsked) return undefined;
    const ask = (event: Event): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isAsked]);
}
