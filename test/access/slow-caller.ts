import { connect } from "node:net";

/** How the service treated a hostile connection. */
export interface Treated {
  /** The time from the connection until the service closed it. */
  readonly ms: number;
  /** The response of the service, if the caller read it. */
  readonly answer: string;
}

export interface SlowCaller {
  readonly address: string;
  /** The data that is sent immediately. */
  readonly first: string | Uint8Array;
  /**
   * The data that is sent repeatedly. The items of an array are sent one after another, and then
   * nothing more.
   */
  readonly drip?: string | Uint8Array | readonly string[];
  readonly everyMs?: number;
  /** Whether the caller reads the response. Default: true. */
  readonly reads?: boolean;
  /** The address that the caller calls from; all of 127.0.0.0/8 is this machine. */
  readonly localAddress?: string;
}

/**
 * Opens a connection that follows its script and never ends by itself. Resolves when the service
 * has closed the connection.
 */
async function slowCaller(caller: SlowCaller): Promise<Treated> {
  const { address, first, drip = [], everyMs = 100, reads = true } = caller;
  const { hostname, port } = new URL(address);
  const beganAt = performance.now();
  const { localAddress } = caller;
  const at = { host: hostname, port: Number(port), ...(localAddress && { localAddress }) };
  const socket = connect({ ...at, allowHalfOpen: true });
  let answer = "";
  let isEnded = false;
  const rest = typeof drip === "string" || drip instanceof Uint8Array ? undefined : [...drip];
  const timer = setInterval(() => {
    const next = rest ? rest.shift() : drip;
    // A closed connection responds with a reset, which shows that the server keeps nothing for it.
    if (typeof next === "string" || next instanceof Uint8Array) socket.write(next);
    else if (isEnded) socket.write("x");
  }, everyMs);
  return await new Promise((resolve) => {
    const end = () => {
      clearInterval(timer);
      socket.destroy();
      resolve({ ms: performance.now() - beganAt, answer });
    };
    socket.on("error", end).on("close", end);
    socket.on("end", () => {
      isEnded = true;
    });
    if (reads) {
      socket.setEncoding("latin1").on("data", (part: string) => {
        answer += part;
      });
    }
    socket.write(first);
  });
}

/** Opens this many of these connections concurrently. */
export async function slowCallers(count: number, caller: SlowCaller): Promise<Treated[]> {
  return await Promise.all(Array.from({ length: count }, () => slowCaller(caller)));
}

/**
 * Requests `/healthz` as another client, again and again with a pause of 20 ms, until `over`
 * settles. Returns the response times in ms, sorted.
 */
export async function latenciesUntil(address: string, over: Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  const ended = new AbortController();
  void over.finally(() => {
    ended.abort();
  });
  while (!ended.signal.aborted) {
    const beganAt = performance.now();
    const answer = await fetch(`${address}/healthz`, { headers: { connection: "close" } });
    await answer.text();
    if (!answer.ok) throw new Error(`/healthz answered ${answer.status}`);
    taken.push(performance.now() - beganAt);
    await new Promise((next) => setTimeout(next, 20));
  }
  return taken.toSorted((a, b) => a - b);
}

/** Returns the value below which this share of the sorted values lies. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
