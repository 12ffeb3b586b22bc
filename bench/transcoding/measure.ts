import { cpuMs } from "../../test/fixtures/cpu-time.ts";

const rounds = 25;
const callsARound = 60_000;

type Run = (text: string, at: number) => unknown;

/**
 * Returns the CPU time in ns of two functions for one text: the best of 25 interleaved rounds. Each
 * call gets a new string, as from a request parser, so that its hash is not known yet. The time to
 * create the string is not included.
 */
export function nanosecondsOf(
  texts: readonly string[],
  one: Run,
  other: Run,
): [one: number, other: number] {
  const bytes = texts.map((text) => Buffer.from(text, "latin1"));
  const nanoseconds = (run: Run): number => {
    const start = cpuMs();
    let found = 0;
    for (let call = 0; call < callsARound; call += 1) {
      const at = call % bytes.length;
      const text = bytes[at]?.toString("latin1") ?? "";
      if (run(text, at) !== undefined) found += 1;
    }
    if (found !== callsARound) throw new Error(`${found} of ${callsARound} were found`);
    return ((cpuMs() - start) * 1e6) / callsARound;
  };
  let [nothing, best, bestOther] = [Infinity, Infinity, Infinity];
  for (let round = 0; round < rounds; round += 1) {
    nothing = Math.min(nothing, nanoseconds(idle));
    best = Math.min(best, nanoseconds(one));
    bestOther = Math.min(bestOther, nanoseconds(other));
  }
  return [best - nothing, bestOther - nothing];
}

function idle(text: string): number {
  return text.length;
}
