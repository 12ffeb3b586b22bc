import { ConnectError } from "@connectrpc/connect";
import { RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import type { Answer } from "../spec/service.ts";

/** A call that was not answered as it should have been. */
export interface FailedCall {
  readonly caller: string;
  readonly problem: string;
  /** The service is unavailable, and says when to retry. */
  readonly isExplained: boolean;
}

/** What callers were answered: how often as they should be, and every time that they were not. */
export class CallCounter {
  /** By caller; all callers are in it from their start. */
  readonly answered = new Map<string, number>();
  /**
   * By caller: streams that a node has ended because it stops, and has said so after their finals.
   */
  readonly handedOver = new Map<string, number>();
  #failures: FailedCall[] = [];

  addCaller(caller: string): void {
    for (const counts of [this.answered, this.handedOver]) counts.set(caller, 0);
  }

  add(counts: "answered" | "handedOver", caller: string): void {
    this[counts].set(caller, (this[counts].get(caller) ?? 0) + 1);
  }

  /** `problem`: what was thrown, or an answer over REST. */
  failed(caller: string, problem: unknown): void {
    const answer = answerOf(problem);
    const isExplained = answer
      ? answer.status === 503 && answer.headers.has("retry-after") && answer.json.code === 14
      : problem instanceof ConnectError && problem.findDetails(RetryInfoSchema).length > 0;
    this.#failures.push({ caller, problem: wordsOf(problem), isExplained });
  }

  /** What failed since it was last asked. */
  takeFailures(): FailedCall[] {
    const failures = this.#failures;
    this.#failures = [];
    return failures;
  }
}

/** It may be the cause of an error. */
function answerOf(problem: unknown): Answer | undefined {
  if (isAnswer(problem)) return problem;
  return problem instanceof Error && isAnswer(problem.cause) ? problem.cause : undefined;
}

function isAnswer(problem: unknown): problem is Answer {
  return typeof problem === "object" && problem !== null && "json" in problem;
}

/** Of fetch() the reason is in the cause. */
function wordsOf(problem: unknown): string {
  const answer = answerOf(problem);
  if (answer) return `${answer.status} ${JSON.stringify(answer.json)}`;
  if (!(problem instanceof Error)) return String(problem);
  const { cause } = problem;
  return cause instanceof Error ? `${problem.message} (${cause.message})` : problem.message;
}
