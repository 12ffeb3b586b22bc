// `npm run bench:access` measures the CPU time of authentication, and how soon a revoked key is
// refused.
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
