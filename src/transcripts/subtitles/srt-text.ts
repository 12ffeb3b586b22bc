/** An invisible character that allows no line break (WORD JOINER). */
const joiner = "\u2060";

/**
 * Text for SRT, which has no escapes: text that players take for an arrow, a tag or an entity gets
 * an invisible character, which withoutJoiners() removes.
 */
export function srtText(text: string): string {
  return text
    .replaceAll("-->", `--${joiner}>`)
    .replaceAll(/<(?=[\p{L}/]|[^<]*>)/gu, `<${joiner}`)
    .replaceAll(/\{(?=\\)/g, `{${joiner}`)
    .replaceAll(/&(?=#?\w+;)/g, `&${joiner}`);
}

/** The inverse of srtText(). */
export function withoutJoiners(text: string): string {
  return text.replaceAll(/(?<=--|<|\{|&)\u2060/g, "");
}
