import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import "./announcer.css";

/** How long a message is shown: long enough to be read twice. */
const shownMs = 6_000;

interface Telling {
  /** Tells screen readers what has happened elsewhere on the page, where it can be seen. */
  readonly announce: (text: string) => void;
  /** Shows a message for a while, and tells screen readers. */
  readonly notify: (text: string) => void;
}

const Context = createContext<Telling>({ announce() {}, notify() {} });

/** Lets components tell users what has happened, with useAnnounce() and useNotify(). */
export function Announcer({ children }: { readonly children: ReactNode }) {
  const [text, setText] = useState("");
  const [shown, setShown] = useState<{ readonly text: string }>();
  const telling = useMemo<Telling>(() => {
    // Screen readers read only changed text, so a space is added to the end of a repeated message.
    const announce = (message: string): void =>
      setText((before) => (before === message ? `${message}\u00A0` : message));
    return {
      announce,
      notify(message) {
        announce(message);
        setShown({ text: message });
      },
    };
  }, []);
  useEffect(() => {
    if (!shown) return undefined;
    const timer = setTimeout(() => setShown(undefined), shownMs);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <Context value={telling}>
      {children}
      <output className="unseen">{text}</output>
      {shown && (
        // The output above says the same.
        <p className="toast" dir="auto" aria-hidden="true">
          {shown.text}
        </p>
      )}
    </Context>
  );
}

export function useAnnounce(): Telling["announce"] {
  return useContext(Context).announce;
}

export function useNotify(): Telling["notify"] {
  return useContext(Context).notify;
}
