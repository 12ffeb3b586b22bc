// Compares the upload and download of a recording with cp of the same file, on the disk of the
// temporary folder. Also measures memory and live streams during transfers.
//
// Usage: npm run bench:media [rounds] [GiB]
import { availableParallelism, cpus, loadavg } from "node:os";
import { measureMemory, measureSpeed, openTransfers, type Figure } from "./media/transfers.ts";
import { measureStreams } from "./media/streams.ts";

const rounds = Number(process.argv[2] ?? 5);
const gibibytes = Number(process.argv[3] ?? 1);

const machine = `${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.versions.node}`;
console.log(`machine  ${machine}`);
await using transfers = await openTransfers();
await transfers.makeSource(gibibytes);
report(await measureSpeed(transfers, rounds));
report(await measureStreams(transfers));
await transfers.makeSource(4);
report(await measureMemory(transfers));

function report(figures: readonly Figure[]): void {
  for (const { name, value, holds, limit, note } of figures) {
    const mark = holds ? " " : "!";
    console.log(`${mark} ${name.padEnd(34)} ${value.toFixed(2)} (${limit})  ${note}`);
    if (!holds) process.exitCode = 1;
  }
  console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
}
