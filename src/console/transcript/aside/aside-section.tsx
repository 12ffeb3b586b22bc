import { type ReactNode, useId } from "react";
import "./aside-section.css";

/** A section of the aside, with a heading and a button for the whole section. */
export function AsideSection({
  title,
  action,
  children,
}: {
  readonly title: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section className="aside-section" aria-labelledby={id}>
      <div className="aside-section-head">
        <h2 id={id}>{title}</h2>
        {action}
      </div>
      {children}
    </section>
  );
}
