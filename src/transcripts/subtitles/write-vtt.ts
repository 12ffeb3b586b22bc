import type { Cue } from "./cue.ts";
import { cueTime } from "./cue-time.ts";

/** Writes cues as a WebVTT file; `nameOf` maps speaker ids to names. */
export function writeVtt(cues: readonly Cue[], nameOf: (speakerId: string) => string): string {
  const blocks = cues.map(({ startMs, endMs, speakerId, lines }, index) => {
    const time = `${cueTime(startMs, ".")} --> ${cueTime(endMs, ".")}`;
    const name = nameOf(speakerId).replaceAll(/\s+/g, " ").trim();
    const voice = name === "" ? "" : `<v ${escaped(name)}>`;
    return `\n${index + 1}\n${time}\n${voice}${lines.map(escaped).join("\n")}\n`;
  });
  return `WEBVTT\n${blocks.join("")}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
