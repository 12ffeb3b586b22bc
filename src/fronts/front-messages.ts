import type { AddressInfo } from "node:net";

/** What a front process needs in addition to the settings. */
export interface FrontStart {
  readonly kind: "start";
  /** The number of the front process, from 1. */
  readonly front: number;
  /** The address at which the main process listens. */
  readonly bound: AddressInfo;
  /** Whether its socket stays open after the main process: see ConnectionSource. */
  readonly isKept: boolean;
  /** Where the main process serves its engines. */
  readonly engines: { readonly socketPath: string; readonly credential: string };
  readonly isQuarantined: boolean;
}

/** Returns the name of a front process in metrics and in the lines of its log. */
export function frontName(front: number): string {
  return `front${front}`;
}

/** A request for the metrics that a front process received. */
export interface ScrapeRequest {
  readonly method: string;
  readonly headers: {
    readonly authorization?: string | undefined;
    readonly accept?: string | undefined;
  };
}

/** The answer of the main process to a request for the metrics. */
export interface ScrapeReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
}

/** The messages of the main process to a front process. Both are the same program. */
export type ToFront =
  | FrontStart
  /** A connection comes with this message. */
  | { readonly kind: "connection"; readonly id: number }
  /** The node leaves: see App.leave(). */
  | { readonly kind: "leave" }
  /** See App.drain(). The front process then closes and ends. */
  | { readonly kind: "drain"; readonly msMax: number; readonly isReplaced: boolean }
  | { readonly kind: "hurry" }
  | { readonly kind: "close" }
  | { readonly kind: "reload" }
  | { readonly kind: "measure"; readonly id: number }
  | { readonly kind: "scraped"; readonly id: number; readonly reply: ScrapeReply };

/** The messages of a front process to the main process. */
export type FromFront =
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly message: string }
  /** Sent each second, as a sign of life, and before the metrics. */
  | { readonly kind: "use"; readonly openStreams: number }
  /**
   * The connections that were received since the last such message, and the number of open ones.
   */
  | { readonly kind: "connections"; readonly received: readonly number[]; readonly open: number }
  /** The front process takes no more connections. */
  | { readonly kind: "closing" }
  /** Jobs were submitted. */
  | { readonly kind: "arrived"; readonly queue: Queue }
  /** Without families if they could not be read. */
  | { readonly kind: "measured"; readonly id: number; readonly families?: readonly object[] }
  | { readonly kind: "scrape"; readonly id: number; readonly request: ScrapeRequest };

/** A queue whose worker is in the main process. */
export type Queue = "jobs" | "alignment";

/** Whether this is a message of the main process, which is this same program. */
export function isToFront(message: unknown): message is ToFront {
  return hasKind(message);
}

/** Whether this is a message of a front process, which is this same program. */
export function isFromFront(message: unknown): message is FromFront {
  return hasKind(message);
}

function hasKind(message: unknown): boolean {
  return typeof message === "object" && message !== null && "kind" in message;
}
