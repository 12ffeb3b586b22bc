import { useEffect, useRef, useState } from "react";
import { identityOf } from "../../api/session.ts";
import { useSession } from "../../api/use-session.ts";
import { UploadRow } from "../../jobs/upload-row.tsx";
import { Button } from "../../parts/button.tsx";
import { addMediaText } from "../../text/add-media.ts";
import { newJobText } from "../../text/jobs.ts";
import { useText } from "../../text/language.tsx";
import { takeDrops } from "../../upload/dropped-files.ts";
import { acceptedFiles, kindOfFile } from "../../upload/media-kind.ts";
import { useUploads } from "../../upload/uploads.tsx";
import { useUploadQueue } from "../../upload/use-upload-queue.ts";
import { AsideSection } from "./aside-section.tsx";
import "../../parts/rows.css";
import "../../jobs/jobs.css";

/** A section that adds a recording to a transcript that has none: a file is chosen or dropped. */
export function AddMedia({ name }: { readonly name: string }) {
  const t = useText();
  const owner = identityOf(useSession());
  const queue = useUploadQueue();
  const input = useRef<HTMLInputElement>(null);
  const sending = useUploads().uploads.filter(({ transcript }) => transcript === name);
  const isFree = sending.length === 0;
  const [problem, setProblem] = useState<"NOT_MEDIA" | "EMPTY">();
  const send = (file: File): void => {
    const found = problemOf(file);
    setProblem(found);
    if (found === undefined) queue.add(owner, file, {}, { transcript: name });
  };
  const latest = useRef(send);
  useEffect(() => {
    latest.current = send;
  });
  useEffect(() => {
    if (!isFree) return undefined;
    return takeDrops(([file, ...others]) => {
      if (!file || others.length > 0 || problemOf(file) === "NOT_MEDIA") return false;
      latest.current(file);
      return true;
    });
  }, [isFree]);
  return (
    <AsideSection title={t(addMediaText.title)}>
      {isFree ? (
        <>
          <p>
            {t(addMediaText.none)} {t(addMediaText.dropHint)}
          </p>
          <Button onPress={() => input.current?.click()}>{t(addMediaText.add)}</Button>
        </>
      ) : (
        <ul className="rows" aria-label={t(addMediaText.title)}>
          {sending.map((upload) => (
            <UploadRow key={upload.id} upload={upload} queue={queue} />
          ))}
        </ul>
      )}
      <input
        ref={input}
        type="file"
        hidden
        accept={acceptedFiles}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) send(file);
          // The value is reset so that the same file can be chosen again.
          target.value = "";
        }}
      />
      {problem && (
        <p className="hint failed" role="alert">
          {t(problem === "EMPTY" ? newJobText.emptyFile : newJobText.notMedia)}
        </p>
      )}
    </AsideSection>
  );
}

function problemOf(file: File): "NOT_MEDIA" | "EMPTY" | undefined {
  if (kindOfFile(file) === "OTHER") return "NOT_MEDIA";
  return file.size === 0 ? "EMPTY" : undefined;
}
