// Attacks `bin/hlust serve` with slow callers and floods at the real limits (threats 61 and 64).
// Measures when the connections of each kind are cut, and the latency of /healthz during the
// attack.
//
// Usage: npm run bench:slow [connections]
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { startService } from "../test/fault/process.ts";
import {
  latenciesUntil,
  quantile,
  slowCallers,
  type SlowCaller,
} from "../test/access/slow-caller.ts";

const connections = Number(process.argv[2] ?? 500);
/**
 * The maximum time between the limit for a kind of connection and the moment at which the
 * connection is cut.
 */
const lateMsMax = 2_000;
const healthMsMax = 100;

const folder = mkdtempSync(join(tmpdir(), "hlust-bench-"));
const data = join(folder, "data");
try {
  await using service = await startService(data, { HLUST_ENGINE: "scripted", HLUST_LOG: "error" });
  const { address, key } = service;
  const post = (token: string) =>
    `POST /v1alpha1/initupload HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\nAuthorization: Bearer ${token}\r\n\r\n{`;
  const kinds: Record<string, [limitMs: number, caller: Omit<SlowCaller, "address">]> = {
    silence: [10_000, { first: "" }],
    "headers that never end": [
      10_000,
      { first: "GET / HTTP/1.1\r\nHost: a\r\n", drip: "x: y\r\n", everyMs: 250 },
    ],
    "a body in a trickle": [35_000, { first: post(key), drip: " ", everyMs: 250 }],
    "a body with a wrong token": [5_000, { first: post("wrong"), drip: " ", everyMs: 250 }],
  };
  console.log(
    `${cpus()[0]?.model}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(0)}`,
  );
  const quiet = await latenciesUntil(address, new Promise((over) => setTimeout(over, 2_000)));
  console.log(`alone                      health p99 ${quantile(quiet, 0.99).toFixed(0)} ms`);
  for (const [name, [limitMs, caller]] of Object.entries(kinds)) {
    const attack = slowCallers(connections, { ...caller, address });
    const health = await latenciesUntil(address, attack);
    const ends = (await attack).map(({ ms }) => ms).toSorted((a, b) => a - b);
    const [first, last, p99] = [ends[0] ?? NaN, ends.at(-1) ?? NaN, quantile(health, 0.99)];
    console.log(
      `${name.padEnd(26)} ${connections} cut after ${first.toFixed(0)} to ${last.toFixed(0)} ms (limit ${limitMs}), health p99 ${p99.toFixed(0)} ms`,
    );
    if (!(last <= limitMs + lateMsMax && p99 <= healthMsMax)) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
