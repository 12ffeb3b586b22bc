import { segmentOf } from "./spec/transcripts.ts";

/** Words of Icelandic, as common as they come. */
const vocabulary =
  "og að í er hann var til sem það hún við þegar heim kominn sagði frá öllu því gerðist í gær svo ekki þá nú málið bæinn sjálfur þessi önnur ræða forseti";

/** Segments of twenty words, two words a second: 72,000 words are an hour of speech for each 7,200. */
export function longSegments(words: number): ReturnType<typeof segmentOf>[] {
  const known = vocabulary.split(" ");
  let state = words + 1;
  const next = (): string => {
    state = (state * 48_271) % 2_147_483_647;
    return known[state % known.length] ?? "";
  };
  return Array.from({ length: Math.ceil(words / 20) }, (_, at) => {
    const count = Math.min(20, words - at * 20);
    return segmentOf(Array.from({ length: count }, next).join(" "), at * 10);
  });
}
