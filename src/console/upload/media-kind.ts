/**
 * The probable kind of a file or URL, judged only by its media type and name. The service checks
 * the bytes (docs/api.md, Uploads).
 */
export type MediaKind = "AUDIO" | "VIDEO" | "UNKNOWN" | "OTHER";

/** File name extensions that the service reads (docs/api.md, Jobs). */
const audioNames =
  "wav w64 aif aiff aifc caf au snd voc flac wv tta ape tak mpc dsf mp1 mp2 mp3 m4a m4b aac ac3 eac3 ec3 dts amr awb gsm sph nist dss ds2 oma aa3 qcp ogg oga opus spx mka weba wma ra";
const videoNames =
  "mp4 m4v mov qt 3gp 3g2 webm mkv avi asf wmv flv f4v mpg mpeg vob ts mts m2ts mxf gxf dv rm rmvb wtv ogv";
const kindsByName: ReadonlyMap<string, MediaKind> = new Map([
  ...audioNames.split(" ").map((name) => [name, "AUDIO"] as const),
  ...videoNames.split(" ").map((name) => [name, "VIDEO"] as const),
]);
/** Media types that are certainly not recordings. */
const otherTypes = /^(text|image|font)\/|^application\/(pdf|zip|json|xml|javascript|xhtml|gzip)/;

/** Returns the probable kind of a file. OTHER means that it is certainly not a recording. */
export function kindOfFile({
  name,
  type,
}: {
  readonly name: string;
  readonly type: string;
}): MediaKind {
  const byName = kindsByName.get(endingOf(name));
  if (byName) return byName;
  if (type.startsWith("audio/")) return "AUDIO";
  if (type.startsWith("video/")) return "VIDEO";
  return otherTypes.test(type) ? "OTHER" : "UNKNOWN";
}

/** The probable kind of the media at a URL, judged by its path. */
export function kindOfUrl(text: string): MediaKind {
  return kindsByName.get(endingOf(URL.parse(text)?.pathname ?? "")) ?? "UNKNOWN";
}

function endingOf(name: string): string {
  return /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
}

/** The `accept` attribute of file inputs. */
export const acceptedFiles = ["audio/*", "video/*", ...kindsByName.keys().map((name) => `.${name}`)]
  .filter((name) => name !== ".ts")
  .join(",");
