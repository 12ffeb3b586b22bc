import { keepForImport, offerDrop } from "./dropped-files.ts";
import { importedFormat } from "./imported-format.ts";

/**
 * Decides what becomes of dropped files: the open page takes them, or files of text are imported,
 * or recordings are transcribed.
 */
export function dropFiles(
  files: readonly File[],
  { transcribe, goTo }: { readonly transcribe: () => void; readonly goTo: (path: string) => void },
): void {
  if (offerDrop(files)) return;
  if (files.some((file) => importedFormat(file) === undefined)) {
    transcribe();
    return;
  }
  keepForImport(files);
  goTo("/import");
}
