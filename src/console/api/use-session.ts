import { createContext, useContext } from "react";
import type { Session } from "./session.ts";

/**
 * Whose pages these are. It stays while the session has ended and its pages only step back
 * (console.tsx).
 */
export const SessionContext = createContext<Session | undefined>(undefined);

/** Who is signed in, for pages, which are shown to nobody else. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("there is no session");
  return session;
}
