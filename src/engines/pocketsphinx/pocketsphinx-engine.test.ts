import { testEngine } from "../../../test/engine-conformance.ts";
import { openPocketsphinx } from "./pocketsphinx-engine.ts";

testEngine("openPocketsphinx()", openPocketsphinx, /^the weather is good today$/);
