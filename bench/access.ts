// npm run bench:access: what checking who calls takes of the CPU, and how soon what is revoked is
// gone.
import { measureCalls } from "./access/calls.ts";
import { measureChecks } from "./access/checks.ts";
import { measureRevocation } from "./access/revocation.ts";
import { report, reportMachine } from "./report.ts";

const figures = [
  ...(await measureChecks()),
  ...(await measureCalls()),
  ...(await measureRevocation()),
];
reportMachine();
report(figures.map(({ value, max, ...rest }) => ({ ...rest, ratio: value, ratioMax: max })));
