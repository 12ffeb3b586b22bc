import { errorFields, type Log } from "../std/log.ts";

/** The variables with which systemd says how it is notified (sd_notify(3)). */
const variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] as const;

/**
 * A start and a shutdown ask for this much more time, again and again while they last: the first
 * start after an upgrade may migrate for long, and a drain may take hours.
 */
const extendMs = 30_000;
const extendEveryMs = 10_000;

/** The program that has started this process and waits for its notifications: systemd. */
export interface Supervisor extends Disposable {
  /** Reports that the service answers calls with all models. */
  ready(): void;
  /** Reports that the service is shutting down. */
  stopping(): void;
  /** Shows one line about the state of the service, in `systemctl status`. */
  show(status: string): void;
}

/**
 * Opens the notifications of systemd over $NOTIFY_SOCKET: EXTEND_TIMEOUT_USEC while the service
 * starts or stops, READY, STOPPING, and WATCHDOG from the event loop, twice in the time after which
 * systemd considers it stuck. Removes the variables from the environment, so that no child process
 * takes them for its own. Without $NOTIFY_SOCKET nothing is loaded and nothing is sent.
 */
export async function openSupervisor(
  environment: NodeJS.ProcessEnv,
  log: Log,
): Promise<Supervisor> {
  const [address, watchdogUs, watchdogPid] = variables.map((name) => environment[name]);
  for (const name of variables) delete environment[name];
  if (!address) {
    return { ready() {}, stopping() {}, show() {}, [Symbol.dispose]() {} };
  }
  const { sendDatagram } = await import("./notify-socket.ts");
  let isLost = false;
  const notify = (...lines: readonly string[]): void => {
    try {
      sendDatagram(address, lines.join("\n"));
      isLost = false;
    } catch (error) {
      if (!isLost) log.warn(errorFields(error), "systemd.not_notified");
      isLost = true;
    }
  };
  const isWatched = watchdogPid === undefined || Number(watchdogPid) === process.pid;
  const watchdogMs = isWatched ? Number(watchdogUs ?? 0) / 1000 : 0;
  return openNotifications(notify, watchdogMs);
}

function openNotifications(
  notify: (...lines: readonly string[]) => void,
  watchdogMs: number,
): Supervisor {
  const extension = `EXTEND_TIMEOUT_USEC=${extendMs * 1000}`;
  let extending: NodeJS.Timeout | undefined;
  const extend = (...lines: readonly string[]): void => {
    notify(...lines, extension);
    extending = setInterval(() => notify(extension), extendEveryMs).unref();
  };
  extend("STATUS=starting");
  const watching =
    watchdogMs > 0 ? setInterval(() => notify("WATCHDOG=1"), watchdogMs / 2).unref() : undefined;
  return {
    ready() {
      clearInterval(extending);
      notify("READY=1", "STATUS=ready");
    },
    stopping() {
      clearInterval(extending);
      extend("STOPPING=1", "STATUS=draining");
    },
    show: (status) => notify(`STATUS=${status}`),
    [Symbol.dispose]() {
      clearInterval(extending);
      clearInterval(watching);
    },
  };
}
