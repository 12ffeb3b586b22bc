import { invalidArgument } from "../std/service-error.ts";
import { jsonDepthMax } from "./json-text.ts";

/** What is read at once, on the thread that also carries live audio: 4 us for each value. A transcript without segments has 4,000. */
export const jsonValuesMax = 20_000;

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * Refuses JSON of more values than are read at once, by its commas; bytes in UTF-8. `list` is the field that may have more, and is not
 * in it where it was plain to see. What nests too deep is left to parseJson(), which refuses it.
 */
export function checkValues(json: Uint8Array, list?: string): void {
  const { length } = json;
  let commas = 0;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < length; at += 1) {
    const byte = json[at];
    if (byte === quote) isText = !isText;
    else if (byte === backslash) at += 1;
    else if (isText) continue;
    else if (byte === comma) {
      commas += 1;
      if (commas >= jsonValuesMax) throw tooMany(list);
    } else if (byte === openList || byte === openObject) {
      depth += 1;
      if (depth > jsonDepthMax) return;
    } else if (byte === closeList || byte === closeObject) depth -= 1;
  }
}

function tooMany(list?: string) {
  const field = "body";
  if (list === undefined) {
    return invalidArgument([{ field, description: `has more than ${jsonValuesMax} values` }]);
  }
  const rule = `${list} may have more, where it is given once, as a list, and the JSON is whole`;
  return invalidArgument([
    { field, description: `has more than ${jsonValuesMax} values: ${rule}` },
  ]);
}
