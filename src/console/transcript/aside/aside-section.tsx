import { type ReactNode, useId } from "react";
import "./aside-section.css";

/** A part of the aside under its name, with what can be done with all of it at the side. */
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
