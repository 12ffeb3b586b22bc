import { type ReactNode, useEffect } from "react";
import "./page-head.css";

/**
 * The title of a page, also of the browser's tab, with a sentence under it and what can be done
 * with the whole page beside it.
 */
export function PageHead({
  title,
  sub,
  children,
}: {
  readonly title: string;
  readonly sub?: ReactNode;
  readonly children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Hlust`;
  }, [title]);
  return (
    <header className="page-head">
      <div>
        {/* Where the keyboard goes when a page is opened (frame/page-focus.ts). */}
        <h1 tabIndex={-1}>{title}</h1>
        {sub !== undefined && <p className="sub">{sub}</p>}
      </div>
      {children !== undefined && <div className="page-actions">{children}</div>}
    </header>
  );
}
