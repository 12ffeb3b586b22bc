import { userInfo } from "node:os";
import { runProgram } from "./run-program.ts";

/** The unprivileged user as which the server runs, because PostgreSQL refuses to run as root. */
const unprivilegedId = 65534;

/** The user of the server. */
export interface ServerUser {
  readonly how: "this user" | "user namespace" | "unprivileged user";
  /** The start of the server's command line. */
  readonly prefix: readonly string[];
  /** The owner of the server's files; undefined: the user that creates them. */
  readonly owner: number | undefined;
}

const direct: ServerUser = { how: "this user", prefix: [], owner: undefined };

/**
 * Describes a namespace in which the programs run as another user, while the files still belong to
 * this user.
 */
const inNamespace = (owner: number | undefined): ServerUser => ({
  how: "user namespace",
  prefix: ["unshare", "--user", `--map-user=${unprivilegedId}`, `--map-group=${unprivilegedId}`],
  owner,
});

const unprivileged: ServerUser = {
  how: "unprivileged user",
  prefix: [
    "setpriv",
    `--reuid=${unprivilegedId}`,
    `--regid=${unprivilegedId}`,
    "--clear-groups",
    "--no-new-privs",
  ],
  owner: unprivilegedId,
};

/**
 * Returns the first user that works on this machine; throws an error with a message for the
 * operator if none does.
 */
export async function chooseServerUser(): Promise<ServerUser> {
  const isRoot = process.geteuid?.() === 0;
  if (!isRoot && hasName()) return direct;
  const choices = isRoot ? [inNamespace(0), unprivileged] : [inNamespace(undefined)];
  const failures: string[] = [];
  for (const choice of choices) {
    const { status, output } = await runProgram([...choice.prefix, "true"]);
    if (status === 0) return choice;
    failures.push(`${choice.prefix[0]}: ${output}`);
  }
  const advice = isRoot
    ? "PostgreSQL does not run as root, and neither a user namespace nor another user is available"
    : "PostgreSQL needs a user that /etc/passwd names, and no user namespace is available";
  throw new Error(
    `${advice} (${failures.join("; ")}). Run the service as an ordinary user, or set DATABASE_URL.`,
  );
}

/** Whether the user has an entry in the user database, which initdb requires. */
function hasName(): boolean {
  try {
    return userInfo().username !== "";
  } catch {
    return false;
  }
}
