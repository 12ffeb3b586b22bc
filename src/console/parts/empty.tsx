import type { ReactNode } from "react";
import "./empty.css";

/** Shown instead of an empty list, with the reason why it is empty and what to do first. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}) {
  return (
    <section className="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
