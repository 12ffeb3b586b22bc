import { testEngine } from "../../../test/fixtures/engine-conformance.ts";
import { flite } from "../../../test/fixtures/flite.ts";
import { openPocketsphinx } from "./pocketsphinx-engine.ts";

// As short as can be: a second of sound takes up to one of CPU here, and it is heard many times.
const said = () => ({
  spoken: flite("Seven men came", { voice: "rms" }),
  other: flite("Seven men", { voice: "awb" }),
});

testEngine("openPocketsphinx()", openPocketsphinx, /^seven men came$/, { said });
