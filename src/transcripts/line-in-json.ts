/**
 * Returns the line, from 1, at which the value of a path begins in valid JSON, for example of
 * `segments[3].words[0].startTime`. For a value that is missing it is the line of what lacks it.
 */
export function lineInJson(json: string, path: string): number {
  let at = spaceEnd(json, 0);
  for (const step of path.split(/[.[\]]+/).filter((part) => part !== "")) {
    const next = valueIn(json, at, step);
    if (next === undefined) break;
    at = next;
  }
  return lineAt(json, at);
}

/** Returns the line, from 1, of a place in a text. */
function lineAt(text: string, place: number): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < place; at = text.indexOf("\n", at + 1)) {
    lines += 1;
  }
  return lines;
}

/** Returns where the value of a member, or of an element, begins. */
function valueIn(json: string, start: number, step: string): number | undefined {
  const isList = json[start] === "[";
  if (!isList && json[start] !== "{") return undefined;
  let at = spaceEnd(json, start + 1);
  for (let index = 0; json[at] !== "]" && json[at] !== "}"; index += 1) {
    let name = `${index}`;
    if (!isList) {
      const end = stringEnd(json, at);
      name = JSON.parse(json.slice(at, end));
      // After the colon.
      at = spaceEnd(json, spaceEnd(json, end) + 1);
    }
    if (name === step) return at;
    at = spaceEnd(json, valueEnd(json, at));
    if (json[at] === ",") at = spaceEnd(json, at + 1);
  }
  return undefined;
}

function valueEnd(json: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const char = json[at];
    if (char === '"') {
      at = stringEnd(json, at);
      continue;
    }
    if (char === "{" || char === "[") depth += 1;
    if (char === "}" || char === "]") depth -= 1;
    at += 1;
  } while (at < json.length && (depth > 0 || !/[\s,\]}]/.test(json[at] ?? "")));
  return at;
}

/** Returns the end of the string whose quotation mark is at this place. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"' && at < json.length) at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

function spaceEnd(json: string, start: number): number {
  let at = start;
  while (/\s/.test(json[at] ?? "")) at += 1;
  return at;
}
