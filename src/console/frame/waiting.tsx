import type { ReactNode } from "react";
import { Mark } from "./mark.tsx";
import "./waiting.css";

/** What is seen until it is known who is here, or why nobody can say. */
export function Waiting({ children }: { readonly children: ReactNode }) {
  return (
    <main className="waiting">
      <Mark />
      <div className="quiet">{children}</div>
    </main>
  );
}
