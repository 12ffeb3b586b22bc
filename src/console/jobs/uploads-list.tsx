import { useState } from "react";
import { identityOf } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { Button } from "../parts/button.tsx";
import { jobsText } from "../text/jobs.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { bytesText } from "../text/numbers.ts";
import { forgetUpload, keptUploads, type KeptUpload } from "../upload/kept-uploads.ts";
import { endUpload } from "../upload/resumable-upload.ts";
import { useUploads } from "../upload/uploads.tsx";
import { useUploadQueue } from "../upload/use-upload-queue.ts";
import { UploadRow } from "./upload-row.tsx";

/** The uploads, above the list of jobs that they will join. */
export function UploadsList() {
  const t = useText();
  const { uploads } = useUploads();
  const queue = useUploadQueue();
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

/**
 * The uploads that an earlier page began and did not finish. A file that is chosen again continues
 * where its upload stopped.
 */
export function InterruptedUploads() {
  const t = useText();
  const { language } = useLanguage();
  const owner = identityOf(useSession());
  const { uploads } = useUploads();
  const [, setDiscarded] = useState(0);
  const isSending = ({ file }: KeptUpload): boolean =>
    uploads.some((upload) => upload.file.name === file.name && upload.file.size === file.size);
  const interrupted = keptUploads(owner).filter((upload) => !isSending(upload));
  if (interrupted.length === 0) return null;
  const discard = ({ place }: KeptUpload): void => {
    forgetUpload(place);
    setDiscarded((count) => count + 1);
    // The service deletes the upload by itself after a day.
    endUpload({ name: place, owner }).catch(() => {});
  };
  return (
    <section className="uploads">
      <h2 id="interrupted-title">{t(jobsText.interrupted)}</h2>
      <p className="hint">{t(jobsText.chooseAgain)}</p>
      <ul className="rows" aria-labelledby="interrupted-title">
        {interrupted.map((upload) => (
          <li key={upload.place} className="row upload-row">
            <span className="title" dir="auto">
              {upload.file.name}
            </span>
            <div className="meta">
              <span>{bytesText(language, upload.file.size)}</span>
              <Button
                look="quiet"
                aria-label={`${t(jobsText.discard)}: ${upload.file.name}`}
                onPress={() => discard(upload)}
              >
                {t(jobsText.discard)}
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
