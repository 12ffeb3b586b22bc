import { errorFields, type Log } from "../std/log.ts";

/** The variables with which systemd says how it is notified (sd_notify(3)). */
const variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] as const;

/**
 * A start and a shutdown ask for this much more time, again and again while they last: the first
 * start after an upgrade may migrate for long, and a drain may take hours.
 */
const extendMs = 30_000;
const extendEveryMs = 10_000;
/** The pause before a notification that could not be sent is sent again. */
const repeatMs = 500;

/** The program that has started this process and waits for its notifications: systemd. */
export interface Supervisor extends Disposable {
  /** Reports that the service answers calls with all models. */
  ready(): void;
  /** Reports that the service is shutting down. */
  stopping(): void;
}

/**
 * Opens the notifications of systemd over $NOTIFY_SOCKET: EXTEND_TIMEOUT_USEC while the service
 * starts or stops, READY, STOPPING and, once it is ready, WATCHDOG from the event loop, twice in
 * the time after which systemd considers it stuck. Removes the variables from the environment, so
 * that no child process takes them for its own. Without $NOTIFY_SOCKET nothing is loaded or sent.
 */
export async function openSupervisor(
  environment: NodeJS.ProcessEnv,
  log: Log,
): Promise<Supervisor> {
  const [address, watchdogUs, watchdogPid] = variables.map((name) => environment[name]);
  for (const name of variables) delete environment[name];
  if (!address) {
    return { ready() {}, stopping() {}, [Symbol.dispose]() {} };
  }
  const { sendDatagram } = await import("./notify-socket.ts");
  const isWatched = watchdogPid === undefined || Number(watchdogPid) === process.pid;
  const watchdogMs = isWatched ? Number(watchdogUs ?? 0) / 1000 : 0;
  return new Notifications((text) => sendDatagram(address, text), { watchdogMs, log });
}

/** A change of the state, by the names of its lines. */
type State = Readonly<Record<string, string>>;

const extension: State = { EXTEND_TIMEOUT_USEC: `${extendMs * 1000}` };

class Notifications implements Supervisor {
  readonly #send: (text: string) => void;
  readonly #watchdogMs: number;
  readonly #log: Log;
  /** The lines that are not sent yet. A later line replaces one of the same name. */
  readonly #unsent = new Map<string, string>();
  #isLost = false;
  #extending: NodeJS.Timeout | undefined;
  #watching: NodeJS.Timeout | undefined;
  #repeating: NodeJS.Timeout | undefined;

  constructor(
    send: (text: string) => void,
    { watchdogMs, log }: { readonly watchdogMs: number; readonly log: Log },
  ) {
    this.#send = send;
    this.#watchdogMs = watchdogMs;
    this.#log = log;
    this.#extend({ STATUS: "starting" });
  }

  ready(): void {
    clearInterval(this.#extending);
    this.#notify({ READY: "1", STATUS: "ready" });
    if (this.#watchdogMs === 0) return;
    this.#watching = setInterval(() => this.#notify({ WATCHDOG: "1" }), this.#watchdogMs / 2);
    this.#watching.unref();
  }

  stopping(): void {
    clearInterval(this.#extending);
    this.#extend({ STOPPING: "1", STATUS: "draining" });
  }

  [Symbol.dispose](): void {
    for (const timer of [this.#extending, this.#watching, this.#repeating]) clearInterval(timer);
  }

  #extend(state: State): void {
    this.#notify({ ...state, ...extension });
    this.#extending = setInterval(() => this.#notify(extension), extendEveryMs).unref();
  }

  /**
   * Sends these lines and those that are not sent yet. While the queue of the receiver is full,
   * they are sent again and again: without READY, a start would fail after its time is over.
   */
  #notify(state: State): void {
    for (const [name, value] of Object.entries(state)) this.#unsent.set(name, value);
    clearTimeout(this.#repeating);
    try {
      this.#send(Array.from(this.#unsent, ([name, value]) => `${name}=${value}`).join("\n"));
      this.#unsent.clear();
      this.#isLost = false;
    } catch (error) {
      if (!this.#isLost) this.#log.warn(errorFields(error), "systemd.not_notified");
      this.#isLost = true;
      this.#repeating = setTimeout(() => this.#notify({}), repeatMs).unref();
    }
  }
}
