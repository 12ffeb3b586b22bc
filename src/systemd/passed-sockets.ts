import process from "node:process";

/** The variables with which systemd says what it passes (sd_listen_fds(3)). */
const variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] as const;
/** The first descriptor that is passed. */
const descriptorMin = 3;
/** More sockets than a node has listeners. */
const socketsMax = 100;

/** A socket that systemd has bound, and passes to this process. */
export interface PassedSocket {
  readonly descriptor: number;
  /** The address to which it is bound. */
  readonly host: string;
  readonly port: number;
}

/**
 * Returns the sockets that systemd passes to this process. Removes the variables from the
 * environment, so that no child process takes them for its own. Without $LISTEN_FDS nothing is
 * loaded. Throws an Error with a line for the operator if one is not a TCP socket that listens.
 */
export async function takePassedSockets(
  environment: NodeJS.ProcessEnv,
): Promise<readonly PassedSocket[]> {
  const [pid, count] = variables.map((name) => environment[name]);
  for (const name of variables) delete environment[name];
  if (count === undefined || Number(pid) !== process.pid) return [];
  const number = Number(count);
  if (!Number.isInteger(number) || number < 0 || number > socketsMax) {
    throw new Error(`LISTEN_FDS is ${count}: it must be a number from 0 to ${socketsMax}`);
  }
  if (number === 0) return [];
  const { listeningAddress } = await import("./listening-address.ts");
  return Array.from({ length: number }, (_, at) => {
    const descriptor = descriptorMin + at;
    const address = listeningAddress(descriptor);
    if (address) return { descriptor, ...address };
    throw new Error(
      `systemd passes something that is not a TCP socket that listens (descriptor ${descriptor}): in hlust.socket, use ListenStream=ADDRESS:PORT and leave out Accept`,
    );
  });
}
