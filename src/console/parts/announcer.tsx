import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

const Context = createContext<(text: string) => void>(() => {});

/** Lets components announce to screen readers what has happened elsewhere on the page. */
export function Announcer({ children }: { readonly children: ReactNode }) {
  const [text, setText] = useState("");
  // Screen readers read only changed text, so a space is added to the end of a repeated message.
  const announce = useCallback(
    (message: string) => setText((before) => (before === message ? `${message}\u00A0` : message)),
    [],
  );
  return (
    <Context value={announce}>
      {children}
      <output className="unseen">{text}</output>
    </Context>
  );
}

export function useAnnounce(): (text: string) => void {
  return useContext(Context);
}
