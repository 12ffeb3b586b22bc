/** The characters that a terminal would act on, except line breaks. */
const controls = /(?!\n)\p{Cc}/gu;

/**
 * Returns a line of the log in JSON as people read it: the time of day, the level, the event, and
 * the fields. A stack follows on lines of its own.
 */
export function prettyLine(line: string): string {
  const parsed: unknown = JSON.parse(line);
  if (typeof parsed !== "object" || parsed === null) return line;
  const { time, level, event, stack, ...fields }: Record<string, unknown> = { ...parsed };
  const clock = typeof time === "string" ? time.slice(11, 23) : "";
  const word = String(level).toUpperCase().padEnd(5);
  const facts = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`);
  const head = [clock, word, typeof event === "string" ? event : "", ...facts].join(" ").trimEnd();
  const tail = typeof stack === "string" ? `\n${indented(stack)}` : "";
  return `${(head + tail).replaceAll(controls, "?")}\n`;
}

function shown(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((each) => `    ${each.trim()}`)
    .join("\n");
}
