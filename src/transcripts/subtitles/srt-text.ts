/** An invisible character that prevents a line break (WORD JOINER). */
const joiner = "\u2060";

/**
 * Writes text for SRT, which has no escapes. Text that players would treat as an arrow, a tag or an
 * entity gets an invisible character, which withoutJoiners() removes.
 */
export function srtText(text: string): string {
  return text
    .replaceAll("-->", `--${joiner}>`)
    .replaceAll(/<(?=[\p{L}/]|[^<]*>)/gu, `<${joiner}`)
    .replaceAll(/\{(?=\\)/g, `{${joiner}`)
    .replaceAll(/&(?=#?\w+;)/g, `&${joiner}`);
}

/** Reverses srtText(). */
export function withoutJoiners(text: string): string {
  return text.replaceAll(/(?<=--|<|\{|&)\u2060/g, "");
}
