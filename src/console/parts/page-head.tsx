import { type ReactNode, useEffect } from "react";
import { useTitlePercent } from "./title-percent.ts";
import "./page-head.css";

/**
 * The title of a page, which is also the title of the browser tab, with a subtitle and the page's
 * buttons.
 */
export function PageHead({
  title,
  sub,
  percent: own,
  children,
}: {
  readonly title: string;
  /**
   * The progress that the title of the browser tab shows, 0 to 100. Default: that of running jobs.
   */
  readonly percent?: number | undefined;
  readonly sub?: ReactNode;
  readonly children?: ReactNode;
}) {
  const ofAll = useTitlePercent();
  useEffect(() => {
    const percent = own ?? ofAll;
    const progress = percent === undefined ? "" : `${Math.floor(percent)}% · `;
    document.title = `${progress}${title} · Hlust`;
  }, [title, own, ofAll]);
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
