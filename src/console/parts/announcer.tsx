import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

const Context = createContext<(text: string) => void>(() => {});

/** Reads out what happened elsewhere on the page, to those who do not see it. */
export function Announcer({ children }: { readonly children: ReactNode }) {
  const [text, setText] = useState("");
  // The same once more is said once more: it has to be another text for that.
  const announce = useCallback(
    (said: string) => setText((before) => (before === said ? `${said}\u00A0` : said)),
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
