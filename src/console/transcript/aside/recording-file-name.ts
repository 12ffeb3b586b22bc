/**
 * The file extensions for the media types that the service returns (src/media/sniff-media-type.ts).
 */
const extensions: Readonly<Record<string, string>> = {
  "audio/wav": "wav",
  "audio/x-w64": "w64",
  "audio/flac": "flac",
  "audio/ogg": "ogg",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "audio/aac": "aac",
  "audio/aiff": "aiff",
  "audio/amr": "amr",
  "audio/amr-wb": "awb",
  "audio/basic": "au",
  "audio/x-caf": "caf",
  "audio/x-wavpack": "wv",
  "audio/x-ape": "ape",
  "audio/x-ms-wma": "wma",
  "audio/webm": "webm",
  "audio/x-matroska": "mka",
  "video/mp4": "mp4",
  "video/quicktime": "mov",
  "video/3gpp": "3gp",
  "video/webm": "webm",
  "video/x-matroska": "mkv",
  "video/ogg": "ogv",
  "video/mpeg": "mpg",
  "video/mp2t": "ts",
  "video/x-flv": "flv",
  "video/x-msvideo": "avi",
  "video/x-ms-wmv": "wmv",
};

/**
 * The maximum length of a name without its extension, in characters. It is well below the limits of
 * file systems.
 */
const charsMax = 100;

/**
 * Returns the file name for a saved recording: the subject without characters that file systems
 * refuse. Unknown types get the extension `bin`, which no system executes.
 */
export function recordingFileName(subject: string, contentType: string): string {
  const clean = subject
    .normalize("NFC")
    .replaceAll(/[\p{C}<>:"/\\|?*%]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/^[. ]+|[. ]+$/g, "");
  const base = Array.from(clean).slice(0, charsMax).join("").trimEnd();
  const type = contentType.split(";", 1)[0]?.trim() ?? "";
  return `${base === "" ? "recording" : base}.${extensions[type] ?? "bin"}`;
}
