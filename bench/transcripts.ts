// `npm run bench:transcripts` measures transcripts at the size of an archive, in the service's own
// PostgreSQL, as ratios measured in one run. `-- --only lists|wire|confidence` selects one part.
import { parseArgs } from "node:util";
import { type Figure, report, reportMachine } from "./report.ts";
import { runConfidence } from "./transcripts/confidence.ts";
import { runLists } from "./transcripts/lists.ts";
import { runWire } from "./transcripts/wire.ts";

const { values } = parseArgs({ options: { only: { type: "string" } } });
const wants = (name: string) => values.only === undefined || values.only === name;

const figures: Figure[] = [];
if (wants("lists")) figures.push(...(await runLists()));
if (wants("confidence")) figures.push(...runConfidence());
if (wants("wire")) figures.push(...(await runWire()));
reportMachine();
report(figures);
