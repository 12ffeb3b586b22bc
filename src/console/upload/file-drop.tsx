import { useEffect, useRef, useState } from "react";
import { useText } from "../text/language.tsx";
import { uploadText } from "../text/upload.ts";
import "./file-drop.css";

/**
 * Accepts files dropped anywhere on the page, and shows a hint while they are dragged over it.
 * Without `onFiles`, a drop has no effect, whereas the browser would otherwise open the file.
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
      // A dragleave event without a related target is fired when the pointer leaves the window.
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
