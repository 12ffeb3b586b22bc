import { createContext, useContext } from "react";
import type { Session } from "./session.ts";

/**
 * The session the pages belong to. It stays the same while that session has ended and its pages are
 * hidden (console.tsx).
 */
export const SessionContext = createContext<Session | undefined>(undefined);

/** Who is signed in. For pages: they are shown to signed-in users only. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("there is no session");
  return session;
}
