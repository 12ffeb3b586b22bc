import { createContext, useContext } from "react";
import type { Session } from "./session.ts";

/**
 * The session that the pages belong to. It stays the same after that session has ended, while its
 * pages are hidden (console.tsx).
 */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The session. Only pages may call this, because they are shown to signed-in users only. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("there is no session");
  return session;
}
