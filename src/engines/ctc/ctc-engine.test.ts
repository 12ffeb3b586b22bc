import { testEngine } from "../../../test/fixtures/engine-conformance.ts";
import { espeak } from "../../../test/fixtures/flite.ts";
import { openStarter } from "../../../test/fixtures/open-starter.ts";

const said = () => ({ spoken: espeak("veðrið er gott í dag"), other: espeak("takk fyrir") });
const hinted = {
  hint: { phrase: "Hallgrímskirkja", boost: 10 },
  said: () => espeak("Hallgrímskirkja í dag"),
};
const expected = /^veðrið er gott í dag$/;

testEngine("openCtcEngine() with a streaming model", () => openStarter("streaming"), expected, {
  said,
  hinted,
});
testEngine("openCtcEngine() with a model of recordings", () => openStarter("whole"), expected, {
  said,
  hinted,
});
