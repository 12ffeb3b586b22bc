import { createContext, useContext } from "react";
import type { Session } from "./session.ts";

/**
 * The session that the pages belong to. The value stays the same after that session has ended,
 * while its pages are hidden (console.tsx).
 */
export const SessionContext = createContext<Session | undefined>(undefined);

/**
 * Returns the session. Only pages may call this function, because pages are shown to signed-in
 * users only.
 */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("there is no session");
  return session;
}
