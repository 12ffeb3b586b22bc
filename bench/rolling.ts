// Restarts three nodes one after the other, without a balancer, while clients create and read
// transcripts, upload, submit jobs and speak. A client repeats a call once at another node. Reports
// the calls that failed nevertheless, and the share of calls that had to be repeated.
//
// Usage: npm run bench:rolling [rounds]
import process from "node:process";
import { RetryingCallers } from "../test/fault/retrying-callers.ts";
import { openRollingNodes } from "../test/fault/rolling-nodes.ts";
import { report, reportMachine } from "./report.ts";

const rounds = Number(process.argv[2] ?? 2);
const nodesCount = 3;
/** The calls that are answered between two restarts. */
const callsBetween = 60;

await using opened = await openRollingNodes(nodesCount);
const { nodes, key } = opened;
const callers = new RetryingCallers(
  nodes.map(({ address }) => address),
  key,
  { lives: 6 },
);
let restarts = 0;
await callers.during(async () => {
  await callers.untilAnswered(callsBetween);
  for (let round = 0; round < rounds; round += 1) {
    for (const node of nodes) {
      const code = await node.stop();
      if (code !== 0) throw new Error(`a node ended with ${code}`);
      await node.start();
      restarts += 1;
      await callers.untilAnswered(callsBetween);
    }
  }
});

reportMachine();
const { answered, retried, failures } = callers;
const what = `${restarts} restarts, ${answered} calls, ${callers.lives.length} live streams`;
report([
  {
    name: "calls that failed twice",
    ratio: failures.length,
    ratioMax: 0,
    unit: "calls",
    note: what,
  },
  // While one of three nodes is down, a third of the calls go there first.
  {
    name: "calls repeated once",
    ratio: retried / answered,
    ratioMax: 1 / nodesCount,
    note: `${retried} of ${answered}`,
  },
]);
for (const failure of failures) console.log(failure);
