import { useEffect, useState } from "react";
import type { Cue } from "../../../cues/cue.ts";
import { CueCutter } from "../../../cues/cue-cutter.ts";
import type { TimedWords } from "../../../cues/timed-words.ts";
import { runInSlices } from "./run-in-slices.ts";

/**
 * The subtitles of a text, by the rules of the service; undefined until they are known. Hours of
 * speech take half a second, so they are cut in slices, between which the page stays responsive.
 * When the text changes, the previous subtitles are returned until the new ones are known, and only
 * segments that are other objects than before are cut.
 */
export function useCues(
  segments: readonly TimedWords[],
  limitMs: number,
): readonly Cue[] | undefined {
  const [cutter] = useState(() => new CueCutter());
  const [cues, setCues] = useState<readonly Cue[]>();
  useEffect(() => {
    const cutting = new AbortController();
    void runInSlices(cutter.cut(segments, limitMs), cutting.signal).then((cut) => {
      if (cut && !cutting.signal.aborted) setCues(cut);
    });
    return () => cutting.abort();
  }, [cutter, segments, limitMs]);
  return cues;
}
