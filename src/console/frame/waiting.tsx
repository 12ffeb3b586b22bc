import type { ReactNode } from "react";
import { Mark } from "./mark.tsx";
import "./waiting.css";

/** Shown until the session is known. If the session cannot be read, shows the reason. */
export function Waiting({ children }: { readonly children: ReactNode }) {
  return (
    <main className="waiting">
      <Mark />
      <div className="quiet">{children}</div>
    </main>
  );
}
