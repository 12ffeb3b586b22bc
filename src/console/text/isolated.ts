/** Characters that can change the direction of the text after them. */
const directed =
  /[\u0590-\u08FF\u200E\u200F\u202A-\u202E\u2066-\u2069\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

const [isolate, end] = ["\u2068", "\u2069"];

/**
 * Returns a text of a user, as it stands within a sentence of the console: letters that are written
 * from right to left, and characters that turn the direction, change nothing after its end. A text
 * that has none of them stays as it is.
 */
export function isolated(text: string): string {
  if (!directed.test(text)) return text;
  let open = 0;
  let inside = "";
  for (const letter of text) {
    // An end without a beginning would end the isolation.
    if (letter === end && open === 0) continue;
    if (letter === end) open -= 1;
    else if (/[\u2066-\u2068]/.test(letter)) open += 1;
    inside += letter;
  }
  return `${isolate}${inside}${end.repeat(open + 1)}`;
}

/** Returns a text of the dictionary: if it is a function, it isolates the texts that it gets. */
export function isolating<Text>(text: Text): Text {
  if (typeof text !== "function") return text;
  return new Proxy(text, {
    apply: (target, that, parts: readonly unknown[]): unknown =>
      Reflect.apply(
        target,
        that,
        parts.map((part) => (typeof part === "string" ? isolated(part) : part)),
      ),
  });
}
