import { ConnectError } from "@connectrpc/connect";
import { RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import type { Answer } from "../spec/service.ts";

/** A call that did not get the expected response. */
export interface FailedCall {
  readonly caller: string;
  readonly problem: string;
  /** Whether the response reports that the service is unavailable, with a time to retry. */
  readonly isExplained: boolean;
}

/** Counts the expected responses that callers get, and records every other result. */
export class CallCounter {
  /** The number of expected responses by caller; every caller has an entry from the start. */
  readonly answered = new Map<string, number>();
  /**
   * The number of streams, by caller, that a node ended because it was shutting down, with that
   * reason after their final results.
   */
  readonly handedOver = new Map<string, number>();
  #failures: FailedCall[] = [];

  addCaller(caller: string): void {
    for (const counts of [this.answered, this.handedOver]) counts.set(caller, 0);
  }

  add(counts: "answered" | "handedOver", caller: string): void {
    this[counts].set(caller, (this[counts].get(caller) ?? 0) + 1);
  }

  /** Records a failure; `problem` is an error or a REST response. */
  failed(caller: string, problem: unknown): void {
    const answer = answerOf(problem);
    const isExplained = answer
      ? answer.status === 503 && answer.headers.has("retry-after") && answer.json.code === 14
      : problem instanceof ConnectError && problem.findDetails(RetryInfoSchema).length > 0;
    this.#failures.push({ caller, problem: wordsOf(problem), isExplained });
  }

  /** Returns the failures since the previous call of this method. */
  takeFailures(): FailedCall[] {
    const failures = this.#failures;
    this.#failures = [];
    return failures;
  }
}

/** Returns the response that is, or caused, an error. */
function answerOf(problem: unknown): Answer | undefined {
  if (isAnswer(problem)) return problem;
  return problem instanceof Error && isAnswer(problem.cause) ? problem.cause : undefined;
}

function isAnswer(problem: unknown): problem is Answer {
  return typeof problem === "object" && problem !== null && "json" in problem;
}

/** Returns a problem as text. An error from fetch() has its reason in the cause. */
function wordsOf(problem: unknown): string {
  const answer = answerOf(problem);
  if (answer) return `${answer.status} ${JSON.stringify(answer.json)}`;
  if (!(problem instanceof Error)) return String(problem);
  const { cause } = problem;
  return cause instanceof Error ? `${problem.message} (${cause.message})` : problem.message;
}
