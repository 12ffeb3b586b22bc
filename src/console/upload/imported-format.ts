/** A format of text files that become transcripts (docs/api.md, Transcripts). */
export type ImportedFormat = "SRT" | "VTT" | "TEXT" | "JSON";

const formats: Readonly<Record<string, ImportedFormat>> = {
  srt: "SRT",
  vtt: "VTT",
  txt: "TEXT",
  json: "JSON",
};

/** The `accept` attribute of file inputs. */
export const importedFiles = Object.keys(formats)
  .map((ending) => `.${ending}`)
  .join(",");

/** Returns the format of a file by its name; undefined if it cannot be imported. */
export function importedFormat({ name }: Pick<File, "name">): ImportedFormat | undefined {
  const ending = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(formats, ending) ? formats[ending] : undefined;
}
