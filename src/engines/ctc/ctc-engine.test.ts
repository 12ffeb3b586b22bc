import { testEngine } from "../../../test/engine-conformance.ts";
import { espeak } from "../../../test/flite.ts";
import { openStarter } from "../../../test/open-starter.ts";

const said = () => ({ spoken: espeak("veðrið er gott í dag"), other: espeak("takk fyrir") });
const heard = /^veðrið er gott í dag$/;

testEngine("openCtcEngine() of a streaming model", () => openStarter("streaming"), heard, { said });
testEngine("openCtcEngine() of a model of recordings", () => openStarter("whole"), heard, { said });
