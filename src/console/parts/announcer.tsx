import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { loadLater } from "./load-later.tsx";
import "./announcer.css";

const UndoMessage = loadLater(() =>
  import("./undo-message.tsx").then(({ UndoMessage }) => UndoMessage),
);

/** How long a message is shown: long enough to be read twice. */
const shownMs = 6_000;

/** Takes back what a message is about. A rejection is shown. */
export type Undo = () => Promise<unknown>;

interface Messages {
  /** Announces to screen readers what can be seen elsewhere on the page. */
  readonly announce: (text: string) => void;
  /**
   * Shows a message for a while, and announces it to screen readers. With `undo`, the message has a
   * button that takes back what was done, and is shown longer. null is for what cannot be undone,
   * and after which nothing from before can be: an earlier message with a button closes.
   */
  readonly notify: (text: string, undo?: Undo | null) => void;
}

interface Shown {
  readonly text: string;
}

interface Undoable extends Shown {
  readonly undo: Undo;
  /** The number of messages with an undo so far. */
  readonly number: number;
}

const Context = createContext<Messages>({ announce() {}, notify() {} });

/** Lets components announce and show what has happened: useAnnounce() and useNotify(). */
export function Announcer({ children }: { readonly children: ReactNode }) {
  const [text, setText] = useState("");
  const [shown, setShown] = useState<Shown>();
  const [undoable, setUndoable] = useState<Undoable>();
  const messages = useMemo<Messages>(() => {
    // Screen readers read only changed text, so a space is added to the end of a repeated message.
    const announce = (message: string): void =>
      setText((before) => (before === message ? `${message}\u00A0` : message));
    return {
      announce,
      notify(message, undo) {
        announce(message);
        if (undo === null) setUndoable(undefined);
        if (undo) {
          setUndoable((last) => ({ text: message, undo, number: (last?.number ?? 0) + 1 }));
        }
        setShown(undo ? undefined : { text: message });
      },
    };
  }, []);
  useEffect(() => {
    if (!shown) return undefined;
    const timer = setTimeout(() => setShown(undefined), shownMs);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <Context value={messages}>
      {children}
      <output className="unseen">{text}</output>
      <div className="toasts">
        {shown && (
          // The output above says the same.
          <p className="toast" dir="auto" aria-hidden="true">
            {shown.text}
          </p>
        )}
        {undoable && (
          <UndoMessage
            // Another message replaces it, even if it has the same text.
            key={undoable.number}
            text={undoable.text}
            undo={undoable.undo}
            notify={messages.notify}
            onClose={() => setUndoable((now) => (now === undoable ? undefined : now))}
          />
        )}
      </div>
    </Context>
  );
}

export function useAnnounce(): Messages["announce"] {
  return useContext(Context).announce;
}

export function useNotify(): Messages["notify"] {
  return useContext(Context).notify;
}
