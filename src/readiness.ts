import type { DescService } from "@bufbuild/protobuf";
import type { Sandbox } from "./audio/sandbox.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import type { EnginePool } from "./engines/pool/engine-pool.ts";
import type { EnginePoolState } from "./engines/pool/pool-state.ts";
import { Speech } from "./gen/hlust/speech/v2beta1/speech_pb.ts";
import type { ServedArchive } from "./media/open-served-archive.ts";
import type { ReadinessCheck } from "./server/health.ts";
import type { HealthOptions } from "./server/server-parts.ts";

/** The uses for which a node can report its readiness. */
type Use = "speech" | "jobs" | "transcripts";

/** The methods of services that need the engines, whatever name the service has. */
const speechMethods: ReadonlySet<string> = new Set(Speech.methods.map(({ name }) => name));

/**
 * Returns the use to which a service of the contract belongs. The service's gRPC health is the
 * readiness for that use.
 */
export function useOf(service: DescService): Use {
  const isSpeech = service.methods.every(({ name }) => speechMethods.has(name));
  return isSpeech ? "speech" : "transcripts";
}

/** Returns what the health checks of a node report. */
export function healthOptions(...[parts, role]: Parameters<typeof readinessChecks>): HealthOptions {
  const isStarting = () => loadingModels(parts.recognizer.state()).length > 0;
  return { checks: readinessChecks(parts, role), useOf, isStarting };
}

/** Returns what the health checks of an engine node report. */
export function engineNodeHealth(recognizer: Pick<EnginePool, "state">): HealthOptions {
  return {
    checks: [{ name: "engines", uses: ["speech", "jobs"], check: () => enginesCheck(recognizer) }],
    isStarting: () => loadingModels(recognizer.state()).length > 0,
  };
}

/**
 * Returns the parts of a node and their uses. Speech needs the engines, and the database in which
 * callers are looked up. Transcripts need the database, and jobs need every part. A worker reports
 * its readiness for jobs only.
 */
export function readinessChecks(
  parts: {
    readonly database: Pick<Database, "ping">;
    readonly recognizer: Pick<EnginePool, "state">;
    readonly archive: Pick<ServedArchive, "ping">;
    readonly sandbox: Pick<Sandbox, "kind">;
  },
  role: Config["role"],
): ReadinessCheck[] {
  const { database, recognizer, archive, sandbox } = parts;
  const usesOf = (...uses: readonly Use[]) =>
    uses.filter((use) => use === "jobs" || role !== "worker");
  const sandboxFacts = () => Promise.resolve({ kind: sandbox.kind });
  return [
    {
      name: "database",
      uses: usesOf("speech", "transcripts", "jobs"),
      check: () => database.ping(),
    },
    { name: "engines", uses: usesOf("speech", "jobs"), check: () => enginesCheck(recognizer) },
    { name: "media", uses: usesOf("jobs"), check: () => archive.ping() },
    { name: "sandbox", uses: usesOf("jobs"), check: sandboxFacts },
  ];
}

/**
 * Checks the engines. They first become ready when every process of the models found at startup has
 * loaded, or has failed to load. After that, they are ready while any process is ready, because the
 * others are being restarted.
 */
function enginesCheck(recognizer: Pick<EnginePool, "state">): Promise<object> {
  const { ready: running, load, ...state } = recognizer.state();
  const facts = { ...state, running, load: Number(load.toFixed(2)) };
  if (running === 0) return notReady("no engine process is ready", facts);
  const loading = loadingModels(state);
  if (loading.length > 0) return notReady(`models are being loaded: ${loading.join(", ")}`, facts);
  return Promise.resolve(facts);
}

function notReady(reason: string, facts: object): Promise<object> {
  return Promise.resolve({ ready: false, reason, ...facts });
}

/**
 * Returns the models that were found at startup and are still loading, each as text with its
 * progress.
 */
export function loadingModels({ models }: Pick<EnginePoolState, "models">): readonly string[] {
  return models
    .filter(({ loading }) => loading)
    .map(({ name, ready, processes }) => `${name} (${ready} of ${processes} processes)`);
}
