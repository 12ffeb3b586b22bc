/** A character that is not seen and breaks no line (WORD JOINER). */
const joiner = "\u2060";

/**
 * Text in SRT, which has no escapes: what players take for an arrow, a tag or an entity gets an
 * unseen character into it. withoutJoiners() takes it out again.
 */
export function srtText(text: string): string {
  return text
    .replaceAll("-->", `--${joiner}>`)
    .replaceAll(/<(?=[\p{L}/]|[^<]*>)/gu, `<${joiner}`)
    .replaceAll(/\{(?=\\)/g, `{${joiner}`)
    .replaceAll(/&(?=#?\w+;)/g, `&${joiner}`);
}

/** Undoes srtText(). */
export function withoutJoiners(text: string): string {
  return text.replaceAll(/(?<=--|<|\{|&)\u2060/g, "");
}
