import { Link, useLocation } from "wouter";
import { ProgressLine } from "../parts/progress-line.tsx";
import { useText } from "../text/language.tsx";
import { uploadText } from "../text/upload.ts";
import { percentSent } from "./percent-sent.ts";
import { useUploads } from "./uploads.tsx";
import "./uploads-line.css";

/** The progress of uploads, if there are any, on every page except the jobs page. */
export function UploadsLine() {
  const t = useText();
  const { uploads } = useUploads();
  const [here] = useLocation();
  if (here === "/jobs") return null;
  const failed = uploads.filter(({ state }) => state.kind === "FAILED");
  const left = uploads.filter(({ state }) => state.kind !== "FAILED");
  const percent = Math.floor(percentSent(left));
  const isWaiting = left.some(({ state }) => state.kind === "WAITING");
  const sending = `${t(uploadText.sending)(left.length)}: ${t(uploadText.percent)(percent)}`;
  const text = isWaiting ? t(uploadText.waiting) : sending;
  return (
    <div className="uploads-line">
      {failed.length > 0 && (
        <Link to="/jobs" className="failed">
          {t(uploadText.failed)}
        </Link>
      )}
      {left.length > 0 && <Link to="/jobs">{text}</Link>}
      {left.length > 0 && (
        <ProgressLine label={t(uploadText.sending)(left.length)} percent={percent} />
      )}
    </div>
  );
}
