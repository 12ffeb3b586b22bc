import { eventStream, jsonLines, type StreamEnvelope } from "./stream-envelope.ts";

/**
 * Chooses the form of a response stream by the client's Accept header (RFC 9110, section 12.5.1).
 * Returns events if the client prefers them to lines of JSON, or rates both equally and names only
 * events. Otherwise returns lines. A client that accepts neither gets lines, not an error.
 */
export function acceptStream(accept: string | undefined): StreamEnvelope {
  if (accept === undefined || !mayNameEvents.test(accept)) return jsonLines;
  const ranges = Array.from(accept.matchAll(element), ([text]) => parseRange(text));
  const events = ratingOf(eventNames, ranges);
  const lines = ratingOf(lineNames, ranges);
  if (events.weight !== lines.weight) {
    return events.weight > lines.weight ? eventStream : jsonLines;
  }
  return events.weight > 0 && events.precision > lines.precision ? eventStream : jsonLines;
}

const eventNames = ["text/event-stream"];
/** The media types that are used for lines of JSON. None of them is registered. */
const lineNames = [
  "application/x-ndjson",
  "application/ndjson",
  "application/jsonl",
  "application/json",
];

/** Most clients name none of these types, and their Accept headers are not parsed further. */
const mayNameEvents = /event-stream|\*/i;

/** The items between commas, except commas in quotes. */
const element = /(?:"(?:[^"\\]|\\.)*"?|[^,"])+/g;

interface MediaRange {
  /** The media range in lower case, such as text/html, text/*, or the range of all types. */
  readonly name: string;
  /** The weight from 0 (not acceptable) to 1. */
  readonly weight: number;
}

function parseRange(text: string): MediaRange {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  if (weight === undefined) return { name, weight: 1 };
  return { name, weight: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0 };
}

/**
 * Returns the weight of a type from the most specific range that includes the type. The precision
 * is 3 for its name, 1 for any type, and 0 without a range.
 */
function ratingOf(
  names: readonly string[],
  ranges: readonly MediaRange[],
): { weight: number; precision: number } {
  const kind = `${names[0]?.split("/")[0]}/*`;
  let best = { weight: 0, precision: 0 };
  for (const { name, weight } of ranges) {
    const precision = names.includes(name) ? 3 : name === kind ? 2 : name === "*/*" ? 1 : 0;
    if (precision > best.precision) best = { weight, precision };
    else if (precision > 0 && precision === best.precision && weight > best.weight)
      best = { weight, precision };
  }
  return best;
}
