import assert from "node:assert/strict";
import { test } from "node:test";
import { joined, noise, silence } from "../../../test/fixtures/flite.ts";
import { soundStretches } from "./sound-stretches.ts";

/** Returns the stretches in seconds, rounded to a tenth. */
function secondsOf(...parts: readonly Int16Array[]): string {
  return soundStretches(joined(...parts))
    .map(({ from, to }) => `${(from / 100).toFixed(1)}-${(to / 100).toFixed(1)}`)
    .join(" ");
}

const cases: readonly [what: string, parts: Int16Array[], stretches: string][] = [
  ["no samples have no sound", [], ""],
  ["digital silence has none", [silence(3000)], ""],
  ["the dither of a converter is silence", [noise(3000, 4)], ""],
  ["fewer samples than a frame are sound", [noise(5, 3000)], "0.0-0.0"],
  ["steady noise is silence", [noise(3000, 3000)], ""],
  ["a short sound may have no silence in it", [noise(1500, 3000)], "0.0-1.5"],
  [
    "sound in silence is kept with a margin",
    [silence(1000), noise(1000, 3000), silence(1000)],
    "0.8-2.2",
  ],
  [
    "sound in noise is kept with a margin",
    [noise(1000, 300), noise(1000, 3000), noise(1000, 300)],
    "0.8-2.2",
  ],
  [
    "sound 6 dB over noise is kept too",
    [noise(1000, 300), noise(1000, 600), noise(1000, 300)],
    "0.8-2.2",
  ],
  [
    "a faint voice after a loud one is kept",
    [noise(1000, 9000), silence(1000), noise(1000, 40), silence(1000)],
    "0.0-1.2 1.8-3.2",
  ],
  [
    "a short pause divides nothing",
    [noise(1000, 3000), silence(400), noise(1000, 3000), silence(1000)],
    "0.0-2.6",
  ],
];
for (const [what, parts, stretches] of cases) {
  test(what, () => assert.equal(secondsOf(...parts), stretches));
}
