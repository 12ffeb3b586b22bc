import { testEngine } from "../../../test/fixtures/engine-conformance.ts";
import { flite } from "../../../test/fixtures/flite.ts";
import { openPocketsphinx } from "./pocketsphinx-engine.ts";

// The audio is as short as possible: a second of it takes up to a second of CPU time, and it is
// decoded many times.
const said = () => ({
  spoken: flite("Seven men came", { voice: "rms" }),
  other: flite("Seven men", { voice: "awb" }),
});

const hinted = {
  hint: { phrase: "Saoirse", boost: 10, soundsLike: ["sursha"] },
  said: () => flite("Sursha came", { voice: "rms" }),
};

testEngine("openPocketsphinx()", openPocketsphinx, /^seven men came$/, { said, hinted });
