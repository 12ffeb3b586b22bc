import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { useIsReachable } from "../api/reach.ts";
import "./offline-banner.css";

/** Says that the service cannot be reached, for as long as it cannot. */
export function OfflineBanner() {
  const t = useText();
  const isReachable = useIsReachable();
  return (
    <output className="offline-banner">
      {!isReachable && <span className="offline-text">{t(commonText.offline)}</span>}
    </output>
  );
}
