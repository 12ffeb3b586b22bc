import { userInfo } from "node:os";
import { runProgram } from "./run-program.ts";

/** PostgreSQL refuses to run as root: this is the user ("nobody") that it is for it. */
const nobody = 65534;

/** Who the server runs as. */
export interface ServerUser {
  readonly how: "this user" | "user namespace" | "unprivileged user";
  /** What the server's command line begins with. */
  readonly prefix: readonly string[];
  /** Who its files belong to; undefined: whoever makes them. */
  readonly owner: number | undefined;
}

const direct: ServerUser = { how: "this user", prefix: [], owner: undefined };

/** Looks like another user to the programs inside, with files that stay ours. */
const inNamespace = (owner: number | undefined): ServerUser => ({
  how: "user namespace",
  prefix: ["unshare", "--user", `--map-user=${nobody}`, `--map-group=${nobody}`],
  owner,
});

const unprivileged: ServerUser = {
  how: "unprivileged user",
  prefix: ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", "--no-new-privs"],
  owner: nobody,
};

/** The first way that works here; throws a sentence for the operator when none does. */
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
    ? "PostgreSQL does not run as root, and neither a user namespace nor another user can be had here"
    : "PostgreSQL needs a user that /etc/passwd names, and no user namespace can be had here";
  throw new Error(
    `${advice} (${failures.join("; ")}). Run the service as an ordinary user, or set DATABASE_URL.`,
  );
}

/** Whether the user has an entry in the user database, without which initdb refuses. */
function hasName(): boolean {
  try {
    return userInfo().username !== "";
  } catch {
    return false;
  }
}
