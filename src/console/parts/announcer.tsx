import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import "./announcer.css";

/** How long a message is shown: long enough to be read twice. */
const shownMs = 6_000;

interface Messages {
  /** Announces to screen readers what can be seen elsewhere on the page. */
  readonly announce: (text: string) => void;
  /** Shows a message for a while, and announces it to screen readers. */
  readonly notify: (text: string) => void;
}

const Context = createContext<Messages>({ announce() {}, notify() {} });

/** Lets components announce and show what has happened: useAnnounce() and useNotify(). */
export function Announcer({ children }: { readonly children: ReactNode }) {
  const [text, setText] = useState("");
  const [shown, setShown] = useState<{ readonly text: string }>();
  const messages = useMemo<Messages>(() => {
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
    <Context value={messages}>
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

export function useAnnounce(): Messages["announce"] {
  return useContext(Context).announce;
}

export function useNotify(): Messages["notify"] {
  return useContext(Context).notify;
}
