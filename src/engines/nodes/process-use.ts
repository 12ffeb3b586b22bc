import { create } from "@bufbuild/protobuf";
import { type ProcessUse, ProcessUseSchema } from "../../gen/hlust/engine/v1/engine_pb.ts";
import type { UseByOthers } from "../pool/child-load.ts";

/** Writes the use of a process as a message. */
export function useMessage(process: number, use: UseByOthers): ProcessUse {
  const { sessions, liveDemand, fullDemand, seconds } = use;
  return create(ProcessUseSchema, {
    process,
    sessions,
    liveDemand: atLeastZero(liveDemand),
    fullDemand: atLeastZero(fullDemand),
    liveSeconds: atLeastZero(seconds.live),
    shortSeconds: atLeastZero(seconds.short),
    jobSeconds: atLeastZero(seconds.job),
  });
}

/** Reads the use of a process. Throws if a number is none, or negative. */
export function useOfMessage(message: ProcessUse): UseByOthers {
  const { sessions, liveDemand, fullDemand, liveSeconds, shortSeconds, jobSeconds } = message;
  const numbers = [liveDemand, fullDemand, liveSeconds, shortSeconds, jobSeconds];
  if (!numbers.every((each) => each >= 0 && each <= useMax) || sessions > useMax) {
    throw new Error(`each number of the use of a process must be 0 to ${useMax}`);
  }
  const seconds = { live: liveSeconds, short: shortSeconds, job: jobSeconds };
  return { sessions, liveDemand, fullDemand, seconds };
}

const useMax = 1e9;

/** Differences of sums may be slightly below zero. */
function atLeastZero(value: number): number {
  return Math.max(0, value);
}
