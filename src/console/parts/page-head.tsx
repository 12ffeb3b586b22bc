import { type ReactNode, useEffect } from "react";
import "./page-head.css";

/**
 * The title of a page, which is also the title of the browser tab, with a subtitle and the page's
 * buttons.
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
        {/* The title receives the focus when a page is opened (frame/page-focus.ts). */}
        <h1 tabIndex={-1} dir="auto">
          {title}
        </h1>
        {sub !== undefined && <p className="sub">{sub}</p>}
      </div>
      {children !== undefined && <div className="page-actions">{children}</div>}
    </header>
  );
}
