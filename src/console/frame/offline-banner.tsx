import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { useIsReachable } from "../api/reach.ts";
import "./offline-banner.css";

/** Shown while the service cannot be reached. */
export function OfflineBanner() {
  const t = useText();
  const isReachable = useIsReachable();
  return (
    <output className="offline-banner">
      {!isReachable && <span className="offline-text">{t(commonText.offline)}</span>}
    </output>
  );
}
