import { jobsText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import { useUploads } from "../upload/uploads.tsx";
import { UploadRow } from "./upload-row.tsx";

/** The uploads, above the list of jobs that they will join. */
export function UploadsList() {
  const t = useText();
  const { uploads, queue } = useUploads();
  if (uploads.length === 0) return null;
  return (
    <section className="uploads">
      <h2 id="uploads-title">{t(jobsText.uploads)}</h2>
      <p className="hint">{t(jobsText.keepOpen)}</p>
      <ul className="rows" aria-labelledby="uploads-title">
        {uploads.map((upload) => (
          <UploadRow key={upload.id} upload={upload} queue={queue} />
        ))}
      </ul>
    </section>
  );
}
