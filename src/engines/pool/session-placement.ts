import { ServiceError } from "../../std/service-error.ts";
import { type EngineAbsence, noEngine } from "../protocol/engine-absence.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import type { OpenSession } from "../protocol/engine-frames.ts";
import { absenceWaitMs } from "./absence-wait.ts";
import type { ChildSession } from "./child-session.ts";
import type { EngineChild } from "./engine-child.ts";
import type { Machine } from "./machine.ts";
import type { ModelProcesses } from "./model-processes.ts";
import type { ReadySignal } from "./ready-signal.ts";
import type { SessionClient } from "./session-client.ts";

/**
 * How long the sessions of a restarting process wait for it before they are moved to a process that
 * is already full.
 */
const crowdMsMin = 5000;
/**
 * How long a new recognition, or one under way, waits while all processes of its model are
 * restarting.
 */
const readyMsMax = { new: 5000, underWay: 30_000 } as const;

/** Returns the error for a model whose server is absent. The log has the details. */
export function absentEngine({ absentMs }: EngineAbsence): ServiceError {
  return new ServiceError(
    "unavailable",
    "the server of the speech model is unavailable; try again",
    {
      reason: noEngine,
      retryAfterMs: absenceWaitMs(absentMs),
    },
  );
}

/** A session and the process in which it runs. */
export interface Place {
  readonly child: EngineChild;
  readonly session: ChildSession;
}

export interface FindOptions {
  readonly hadPlace: boolean;
  /** A process that is used only if there is no other. */
  readonly avoided?: EngineChild | undefined;
  readonly signal: AbortSignal;
}

/** Finds a process for each session of one recognition. */
export class SessionPlacement {
  readonly #choose: () => ModelProcesses | undefined;
  readonly #ready: ReadySignal;
  #model: ModelProcesses | undefined;
  /** The machine of the last place. */
  #machine: Machine | undefined;

  /** `choose` returns the model that serves when `model` has been replaced or removed. */
  constructor(
    model: ModelProcesses | undefined,
    choose: () => ModelProcesses | undefined,
    ready: ReadySignal,
  ) {
    this.#model = model;
    this.#choose = choose;
    this.#ready = ready;
  }

  /**
   * Opens the session in the most suitable process; waits for a while if none is ready. A session
   * that had a place before is admitted wherever a process is available. Throws ServiceError:
   * unavailable if no process becomes ready, resource_exhausted if none has room.
   */
  async find(
    client: SessionClient,
    payload: OpenSession,
    { hadPlace, avoided, signal }: FindOptions,
  ): Promise<Place> {
    const endsAt = performance.now() + (hadPlace ? readyMsMax.underWay : readyMsMax.new);
    const crowdsAt = performance.now() + crowdMsMin;
    for (;;) {
      signal.throwIfAborted();
      const model = this.#currentModel(client.mode);
      const children = othersThan(avoided, model?.children() ?? []);
      const child = hadPlace
        ? model?.admission.choose(client.mode, children)
        : model?.admission.admit(client.mode, children);
      // Sessions do not move again later, so a session that would crowd a full process first waits
      // for the process that is restarting.
      const isWorthWaiting = hadPlace && model?.isIncomplete === true && !this.#ready.isClosed;
      const crowdWaitMs = isWorthWaiting ? crowdsAt - performance.now() : 0;
      if (child && crowdWaitMs > 0 && model?.admission.isCrowded(client, child)) {
        await this.#ready.wait(crowdWaitMs, signal);
        continue;
      }
      if (model && child) {
        // A session needs another share of another machine's cores.
        if (child.machine !== this.#machine) client.demand.expect(model.admission.demandOn(child));
        this.#machine = child.machine;
        return { child, session: child.open(client, payload) };
      }
      const leftMs = endsAt - performance.now();
      const absence = model?.absence;
      if (absence && (client.mode === "job" || leftMs <= 0)) throw absentEngine(absence);
      if (this.#ready.isClosed || !model || leftMs <= 0) {
        throw new ServiceError("unavailable", "no speech engine is ready; try again", {
          reason: this.#ready.isClosed ? "CLOSING" : noEngine,
          retryAfterMs: 1000,
        });
      }
      await this.#ready.wait(leftMs, signal);
    }
  }

  /** Returns the share of a core that a stream may use for full effort (Admission.fullDemand). */
  fullDemand({ child }: Place, before: number): number {
    return this.#model?.admission.fullDemand(child, before) ?? 0;
  }

  /**
   * The model may have been replaced or removed while the session ran or waited for a process. Jobs
   * wait for a model whose server is absent; others get another one, if there is one.
   */
  #currentModel(mode: RecognitionMode): ModelProcesses | undefined {
    const isAbsent = mode !== "job" && this.#model?.absence !== undefined;
    if (this.#model?.isRetired || isAbsent) this.#model = this.#choose();
    return this.#model;
  }
}

function othersThan(
  avoided: EngineChild | undefined,
  children: readonly EngineChild[],
): readonly EngineChild[] {
  if (!avoided) return children;
  const others = children.filter((child) => child !== avoided);
  return others.length > 0 ? others : children;
}
