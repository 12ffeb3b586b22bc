// An engine node of bench/placement.ts, which reports the number of cores on the command line,
// whatever the machine has.
import process from "node:process";
import { openEngineListener } from "../../src/engines/nodes/serve-engines.ts";
import { SharedProcesses } from "../../src/engines/nodes/shared-processes.ts";
import { openEnginePool } from "../../src/engines/pool/engine-pool.ts";
import { createLog } from "../../src/std/log.ts";

const [, , coresText = "1", credential = "", silentMs = ""] = process.argv;
const cores = Number(coresText);
const log = createLog("error");
const shared = new SharedProcesses();
await using _pool = await openEnginePool({
  engine: "scripted",
  processes: cores,
  share: shared,
  log,
});
await using listener = await openEngineListener(shared, {
  at: { host: "127.0.0.1", port: 0 },
  credential,
  silentMsMax: Number(silentMs),
  cores,
  isLoading: () => false,
  log,
});
process.send?.(Number(listener.address.split(":").at(-1)));
await new Promise((resolve) => process.once("disconnect", resolve));
