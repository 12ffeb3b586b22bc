import { decodeEntities } from "./entities.ts";
import type { CueSpan } from "./read-cue.ts";
import { readTime } from "./read-timing.ts";

/**
 * Reads the text of a WebVTT cue. `<v Name>` begins the speech of a speaker, and `<00:00:01.500>`
 * begins the text that is spoken from that time on. Other tags are dropped.
 */
export function readVttText(text: string): CueSpan[] {
  const spans: CueSpan[] = [];
  let span: CueSpan = { text: "", voice: "" };
  const begin = (next: CueSpan): void => {
    if (span.text !== "") spans.push(span);
    span = next;
  };
  for (const { 0: whole, groups } of text.matchAll(/<(?<tag>[^<>]*)>|[^<]+|</g)) {
    const { tag } = groups ?? {};
    if (tag === undefined || !isTag(tag)) {
      span = { ...span, text: span.text + decodeEntities(whole) };
      continue;
    }
    const fromMs = readTime(tag);
    if (fromMs !== undefined) begin({ text: "", voice: span.voice, fromMs });
    else if (/^v[\s.]/.test(tag)) begin({ text: "", voice: voiceIn(tag) });
    else if (tag === "/v") begin({ text: "", voice: "" });
  }
  begin(span);
  return spans;
}

/** Whether the text is a tag: `<3` and `a < b > c` are not tags. */
function isTag(tag: string): boolean {
  return /^\/?(?:[a-z]+(?:[.\s][^]*)?)?$/i.test(tag) || readTime(tag) !== undefined;
}

/** Returns the name in a voice tag, such as Mary Ann in "v.loud Mary Ann". */
function voiceIn(tag: string): string {
  const name = tag.replace(/^v[^\s]*/, "");
  return decodeEntities(name).replaceAll(/\s+/g, " ").trim();
}
