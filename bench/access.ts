// npm run bench:access: what checking who calls takes of the CPU, and how soon what is revoked is
// gone.
import { availableParallelism, cpus, loadavg } from "node:os";
import { measureCalls } from "./access/calls.ts";
import { measureChecks } from "./access/checks.ts";
import { measureRevocation } from "./access/revocation.ts";

const figures = [
  ...(await measureChecks()),
  ...(await measureCalls()),
  ...(await measureRevocation()),
];
const load = loadavg()[0]?.toFixed(0);
console.log(
  `machine  ${cpus()[0]?.model}, ${availableParallelism()} cores, load ${load}, Node ${process.versions.node}`,
);
for (const { name, value, max, unit, note } of figures) {
  const mark = value <= max ? " " : "!";
  console.log(`${mark} ${name.padEnd(38)} ${value.toFixed(1)} ${unit} (limit ${max})  ${note}`);
}
if (figures.some(({ value, max }) => value > max)) process.exitCode = 1;
