import { useEffect, useRef, useState } from "react";
import { useText } from "../text/language.tsx";
import { uploadText } from "../text/upload.ts";
import "./file-drop.css";

/**
 * Takes files that are dropped anywhere on the page, and says so while they are held over it. A
 * browser would go to a file that nobody takes: without `onFiles` it is dropped to no effect.
 */
export function FileDrop({
  onFiles,
}: {
  readonly onFiles: ((files: readonly File[]) => void) | undefined;
}) {
  const t = useText();
  const [isOver, setIsOver] = useState(false);
  const take = useRef(onFiles);
  useEffect(() => {
    take.current = onFiles;
  });
  useEffect(() => {
    const stop = new AbortController();
    const onEvent = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const { type, dataTransfer } = event;
      // Of leaving: only that of the window itself has nowhere that it goes to.
      setIsOver(type === "dragover" || (type === "dragleave" && event.relatedTarget !== null));
      if (type === "dragover") dataTransfer.dropEffect = take.current ? "copy" : "none";
      if (type === "drop" && dataTransfer.files.length > 0) {
        take.current?.([...dataTransfer.files]);
      }
    };
    for (const type of ["dragover", "dragleave", "drop"] as const) {
      addEventListener(type, onEvent, { signal: stop.signal });
    }
    return () => stop.abort();
  }, []);
  return isOver && onFiles ? (
    <div className="file-drop">
      <p>{t(uploadText.dropHere)}</p>
    </div>
  ) : null;
}
