import type { ProcessReady, ProcessUse } from "../../gen/hlust/engine/v1/engine_pb.ts";
import type { Log } from "../../std/log.ts";
import type { ChildSession } from "../pool/child-session.ts";
import { EngineChild } from "../pool/engine-child.ts";
import type { LinkEnd } from "../pool/engine-link.ts";
import type { LoadableModel } from "../pool/loadable-models.ts";
import type { Machine } from "../pool/machine.ts";
import { SocketLink } from "../pool/socket-link.ts";
import type { Frame } from "../protocol/engine-frames.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import { FrameCheck } from "./check-frames.ts";
import { NodeLink } from "./node-link.ts";
import { beatMs } from "./node-protocol.ts";
import { checkedReady } from "./process-ready.ts";
import { useMessage, useOfMessage } from "./process-use.ts";

/**
 * How long a process with work may send nothing although its node answers. The node itself watches
 * its processes more closely, so this only ends a node that is broken.
 */
const quietMsMax = 60_000;
/**
 * The answers to beats within which a node reports the end of a process after the end of its
 * socket: 5 s, or longer if the node is busy. Then it is connected to again. The wait doubles, up
 * to two minutes, each time that the connection ends within a minute.
 */
const answersMin = 5_000 / beatMs;
const answersMax = 120_000 / beatMs;
const usefulAnswers = 60_000 / beatMs;
const processesMax = 10_000;

/** What is done with the processes of an engine node. */
export interface ProcessEvents {
  ready(child: EngineChild, model: LoadableModel): void;
  loaded(child: EngineChild, model: LoadableModel, report: LoadReport): void;
  /** The server of a hosted model is absent from now on, or is present again. */
  absenceChanged(): void;
  /** Returns whether another process can take over a session of this model. */
  hasOther(model: LoadableModel): boolean;
}

interface NodeProcessesOptions {
  /** The address of the node, as in the setting. */
  readonly node: string;
  /** Whether processes may name sockets, to which this one connects itself. */
  readonly isSameMachine: boolean;
  readonly events: ProcessEvents;
  /** Sends frames to a process. The caller may reuse the bytes immediately. */
  readonly send: (process: number, bytes: Buffer) => void;
  /** Called if a process with work sends nothing, so that its node is not to be trusted. */
  readonly onStuck: (problem: string) => void;
  readonly log: Log;
}

interface NodeProcess {
  readonly message: ProcessReady;
  readonly machine: Machine;
  readonly child: EngineChild;
  readonly link: NodeLink | SocketLink;
  readonly model: LoadableModel;
  /** The answers to beats while it was connected, and since the end of its socket. */
  answers: number;
  answersSinceEnd: number;
  /** The answers after the end of its socket with which it is connected to again. */
  readonly answersToWait: number;
}

/** The processes that an engine node has reported on one connection, by its numbers. */
export class NodeProcesses {
  readonly #options: NodeProcessesOptions;
  readonly #processes = new Map<number, NodeProcess>();
  /** The process whose frames were handled last. */
  #speaking: NodeProcess | undefined;
  #last = 0;
  #isLeaving = false;

  constructor(options: NodeProcessesOptions) {
    this.#options = options;
  }

  get children(): readonly EngineChild[] {
    return Array.from(this.#processes.values(), ({ child }) => child).filter(
      ({ hasExited }) => !hasExited,
    );
  }

  /** Whether the node is being stopped. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Adds a process of the node. Throws if the node may not report it. */
  add(message: ProcessReady, machine: Machine): void {
    const { process } = message;
    if (process <= this.#last) throw new Error("a process has the number of another");
    if (this.#processes.size >= processesMax) throw new Error("it has too many processes");
    this.#last = process;
    this.#use(message, machine, answersMin);
  }

  #use(message: ProcessReady, machine: Machine, answersToWait: number): void {
    const { node, events, log } = this.#options;
    const { model, ready } = checkedReady(message);
    const link = this.#linkTo(message);
    const child: EngineChild = new EngineChild(link, ready, {
      model: model.name,
      node,
      log,
      machine,
      onLoad: (report) => events.loaded(child, model, report),
      onAbsence: () => events.absenceChanged(),
      ...(link instanceof SocketLink ? directOptions(message) : checksOfNode()),
    });
    const parts = { message, machine, child, link, model, answersToWait };
    this.#processes.set(message.process, { ...parts, answers: 0, answersSinceEnd: 0 });
    events.ready(child, model);
    if (this.#isLeaving) child.handOver(() => events.hasOther(model));
  }

  #linkTo({ process, direct }: ProcessReady): NodeLink | SocketLink {
    const { isSameMachine, log, send, onStuck } = this.#options;
    if (direct && isSameMachine) return new SocketLink(direct, { pid: direct.pid, log });
    return new NodeLink({
      send: (bytes) => send(process, bytes),
      onStuck: () => onStuck(`process ${process} sends nothing`),
    });
  }

  /** Takes frames of a process. Throws if they cannot be trusted. */
  receive(process: number, frames: Uint8Array): void {
    const speaking = this.#processes.get(process);
    this.#speaking = speaking;
    if (speaking?.link instanceof NodeLink) speaking.link.receive(frames);
  }

  /** A process accepts no more sessions. */
  retire(process: number): void {
    this.#processes.get(process)?.child.handOver(() => false);
  }

  /** A process has ended. */
  remove(process: number, how: string): void {
    this.#processes.get(process)?.link.close({ how: how.slice(0, 200), isOfProcess: true });
    this.#processes.delete(process);
  }

  /** The node is being stopped: its sessions move to other processes. */
  leave(): void {
    this.#isLeaving = true;
    for (const { child, model } of this.#processes.values()) {
      child.handOver(() => this.#options.events.hasOther(model));
    }
  }

  /** What is done with each process here. */
  uses(): ProcessUse[] {
    return Array.from(this.#processes, ([process, { child }]) => useMessage(process, child.ownUse));
  }

  /** Takes the answer to a beat: what other clients of the node do with its processes. */
  takeUses(others: readonly ProcessUse[]): void {
    for (const use of others) {
      const process = this.#processes.get(use.process);
      if (process) process.child.others = useOfMessage(use);
    }
    for (const [number, process] of this.#processes) this.#checkEnd(number, process);
  }

  /**
   * A process whose socket has ended goes on if the node does not report its end, and is connected
   * to again. The end of one that was killed here may take long.
   */
  #checkEnd(number: number, process: NodeProcess): void {
    const { message, machine, child, link, answersToWait } = process;
    if (!(link instanceof SocketLink) || child.isLeaving || link.wasKilled) return;
    if (!child.hasExited) {
      process.answers += 1;
      return;
    }
    process.answersSinceEnd += 1;
    if (process.answersSinceEnd < answersToWait) return;
    this.#options.log.warn({ process: number, pid: child.pid }, "engine.process_cut_off");
    const isSoon = process.answers < usefulAnswers;
    this.#use(message, machine, isSoon ? Math.min(2 * answersToWait, answersMax) : answersMin);
  }

  /**
   * Ends all processes, since the connection has ended. The session with the number `suspect` of
   * the process that spoke last may be the cause, which counts as a crash of that process.
   */
  end(end: LinkEnd, suspect?: number): void {
    if (suspect !== undefined) this.#speaking?.link.close({ ...end, suspect });
    for (const { link } of this.#processes.values()) link.close(end);
    this.#processes.clear();
  }
}

/** Returns how a process is used that this one is connected to itself: as a child is. */
function directOptions({ direct }: ProcessReady) {
  return { stuckMsMax: direct?.stuckMsMax ?? quietMsMax, numbersFrom: direct?.numbersFrom ?? 0 };
}

/** Returns how the process of another node is watched. */
function checksOfNode() {
  const check = new FrameCheck();
  return {
    stuckMsMax: quietMsMax,
    check: (frame: Frame, session: ChildSession | undefined) => check.check(frame, session),
    readSigns: () => undefined,
  };
}
