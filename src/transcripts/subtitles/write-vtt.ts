import type { Cue } from "../../cues/cue.ts";
import { cueTime } from "./cue-time.ts";
import type { Frame, FrameLine } from "./paint-on.ts";

/** Writes cues as a WebVTT file; `nameOf` maps speaker ids to names. */
export function writeVtt(cues: readonly Cue[], nameOf: (speakerId: string) => string): string {
  const blocks = cues.map(({ speakerId, lines, ...times }, index) =>
    block(index, times, [{ speakerId, text: lines.join("\n") }], nameOf),
  );
  return `WEBVTT\n${blocks.join("")}`;
}

/**
 * Writes frames as a WebVTT file with a cue for each frame. Returns undefined if the file would be
 * longer than `bytesMax`: each word is written as often as it is on the screen.
 */
export function writePaintOn(
  frames: Iterable<Frame>,
  nameOf: (speakerId: string) => string,
  bytesMax: number,
): string | undefined {
  let text = "WEBVTT\n";
  let bytes = text.length;
  let index = 0;
  for (const { lines, ...times } of frames) {
    const cue = block(index, times, lines, nameOf);
    bytes += Buffer.byteLength(cue);
    if (bytes > bytesMax) return undefined;
    text += cue;
    index += 1;
  }
  return text;
}

function block(
  index: number,
  { startMs, endMs }: Pick<Cue, "startMs" | "endMs">,
  lines: readonly FrameLine[],
  nameOf: (speakerId: string) => string,
): string {
  const time = `${cueTime(startMs, ".")} --> ${cueTime(endMs, ".")}`;
  let text = "";
  let voice = "";
  for (const [at, line] of lines.entries()) {
    const isSameVoice = at > 0 && lines[at - 1]?.speakerId === line.speakerId;
    if (!isSameVoice && voice !== "") text += "</v>";
    if (at > 0) text += "\n";
    if (!isSameVoice) {
      voice = voiceTag(nameOf(line.speakerId));
      text += voice;
    }
    text += escaped(line.text);
  }
  return `\n${index + 1}\n${time}\n${text}\n`;
}

function voiceTag(name: string): string {
  const plain = name.replaceAll(/\s+/g, " ").trim();
  return plain === "" ? "" : `<v ${escaped(plain)}>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
