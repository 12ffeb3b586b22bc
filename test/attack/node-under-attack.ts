import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { scopes } from "../../src/auth/caller.ts";
import type { Database } from "../../src/database/database.ts";
import { openExistingDatabase } from "../../src/database/open-existing.ts";
import { addAccount } from "../../src/operator/accounts.ts";
import { createKey } from "../../src/operator/keys.ts";
import { type ServiceProcess, startService } from "../fault/process.ts";
import type { Window } from "./figures.ts";

/**
 * The memory for the service's process, as an operator sets it: slightly more than the minimum for
 * 10,000 connections.
 */
const givenMb = 3_584;
/**
 * The maximum memory of the process. An account's calls may use a quarter of the memory for calls,
 * and an idle service also uses some.
 */
export const memoryMb = 1_024;
const environment = {
  HLUST_ENGINE: "scripted",
  HLUST_LOG: "error",
  NODE_OPTIONS: `--max-old-space-size=${memoryMb}`,
  HLUST_MEMORY_MB: `${givenMb}`,
};
const victimProgram = resolve(import.meta.dirname, "victim-process.ts");

/**
 * A service process that two accounts use: the attacker's account, whose key is here, and another
 * account that is measured.
 */
export interface NodeUnderAttack extends AsyncDisposable {
  readonly address: string;
  readonly pid: number;
  readonly dataFolder: string;
  /** The attacker's key, with every scope. */
  readonly token: string;
  readonly accountId: string;
  readonly db: Database["db"];
  /** Whether the service's process has ended. */
  readonly isLost: boolean;
  /** Returns the samples of the other account since the last call of seen(). */
  seen(): Promise<Window>;
  /** Restarts the service, whether or not it has ended. */
  restart(): Promise<void>;
}

export async function openNodeUnderAttack(): Promise<NodeUnderAttack> {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "hlust-attack-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  let service: ServiceProcess | undefined;
  let victim: ChildProcess | undefined;
  opened.defer(async () => {
    await service?.[Symbol.asyncDispose]();
  });
  service = await startService(folder, environment);
  const database = opened.use(
    await openExistingDatabase({ dataFolder: folder, database: { url: undefined } }),
  );
  const { db } = database;
  const accountId = await addAccount(db, "Attacker");
  const wanted = { accountId, displayName: "Key", scopes, expiresAt: null, limits: "{}" };
  const { secret: token } = await createKey(db, wanted);
  victim = await startVictim(service);
  opened.defer(async () => await endOf(victim));
  const open = opened.move();
  const current = (): ServiceProcess => {
    if (!service) throw new Error("not started");
    return service;
  };
  return {
    get address() {
      return current().address;
    },
    get pid() {
      return current().pid;
    },
    dataFolder: folder,
    token,
    accountId,
    db,
    get isLost() {
      const { exitCode, signalCode } = current().child;
      return exitCode !== null || signalCode !== null;
    },
    async seen() {
      if (!victim) throw new Error("not started");
      const answer = once(victim, "message");
      victim.send("take");
      const [window]: Window[] = await answer;
      if (!window) throw new Error("the other account's process sent no samples");
      return window;
    },
    async restart() {
      await endOf(victim);
      await service?.[Symbol.asyncDispose]();
      service = await startService(folder, environment);
      victim = await startVictim(service);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function startVictim({ address, key, pid }: ServiceProcess): Promise<ChildProcess> {
  const victim = fork(victimProgram, [address, key, `${pid}`], { serialization: "advanced" });
  const ended = once(victim, "exit").then(() => {
    throw new Error("the other account's process ended");
  });
  ended.catch(() => {});
  await Promise.race([once(victim, "message"), ended]);
  return victim;
}

async function endOf(victim: ChildProcess | undefined): Promise<void> {
  if (!victim || victim.exitCode !== null || victim.signalCode !== null) return;
  const exited = once(victim, "exit");
  victim.kill("SIGKILL");
  await exited;
}
