import { ServiceError } from "../../std/service-error.ts";
import { mainProcessName } from "../nodes/node-address.ts";
import { noEngine } from "../protocol/engine-absence.ts";
import { absenceWaitMs } from "./absence-wait.ts";

/** The nodes that a message names. */
const namesMax = 3;

/**
 * Returns the error for what may be on an engine node that is not reached, or that is still loading
 * its models. It names the nodes: an operator takes those that do not come out of HLUST_ENGINES.
 */
export function unreached(nodes: {
  readonly unknown: () => readonly string[];
  readonly unknownMs: number;
}): ServiceError {
  const all = nodes.unknown();
  const named = all.slice(0, namesMax).map(nameInSentence).join(", ");
  const names = all.length > namesMax ? `${named} and ${all.length - namesMax} more` : named;
  const problem =
    all.length > 1
      ? `${names} are not reached yet, or are still loading their models`
      : `${names} is not reached yet, or is still loading its models`;
  const message = all.length === 0 ? "no engine node has a model" : problem;
  return new ServiceError("unavailable", `${message}; try again`, {
    reason: noEngine,
    retryAfterMs: absenceWaitMs(nodes.unknownMs),
  });
}

/** The main process is the engine node of the front processes of its node. */
function nameInSentence(name: string): string {
  return name === mainProcessName ? `the ${name}` : `engine node ${name}`;
}
