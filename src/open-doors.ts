import { allowListOf, dialectOptions, memoryOf, networkOf } from "./app-options.ts";
import type { Sandbox } from "./audio/sandbox.ts";
import type { Meter } from "./auth/meter.ts";
import type { Config } from "./config.ts";
import { databaseTrouble, type Database } from "./database/database.ts";
import { accountServices, openPageTokens, speechServices, transcriptsService } from "./doors.ts";
import { openDialects } from "./dialects/create-dialects.ts";
import type { EnginePool } from "./engines/pool/engine-pool.ts";
import type { Arrivals } from "./jobs/arrivals.ts";
import { createCallers, openConsole } from "./open-callers.ts";
import type { NodeMetrics } from "./open-metrics.ts";
import { type openArchive, openMediaOf } from "./open-storage.ts";
import { healthOptions } from "./readiness.ts";
import { httpRulesOf } from "./served-services.ts";
import type { AccessLog } from "./server/access-log.ts";
import type { ListenOptions } from "./server/server-parts.ts";
import { openServer } from "./server/server.ts";
import { HeldBytes } from "./std/held-bytes.ts";
import type { Log } from "./std/log.ts";
import { reachable } from "./std/reachable.ts";
import { openSegmentsReader } from "./transcripts/segments-reader.ts";
import { createAccountHints } from "./vocabulary/account-hints.ts";
import { NodeWatches } from "./watches/node-watches.ts";

/** The settings of calls that are checked before anything is opened. */
export type CallRules = Awaited<ReturnType<typeof openRules>>;

/** Reads the settings that are checked before anything is opened. Throws ConfigError. */
export async function openRules(config: Config) {
  return {
    allow: allowListOf("HLUST_ALLOW_MEDIA_FROM", config.allowMediaFrom),
    allowWebhooks: allowListOf("HLUST_ALLOW_WEBHOOKS_TO", config.allowWebhooksTo),
    httpRules: await httpRulesOf(config),
  };
}

/** The parts of a node that its doors need. */
interface DoorParts {
  readonly database: Database;
  readonly recognizer: EnginePool;
  readonly sandbox: Sandbox;
  readonly archive: Awaited<ReturnType<typeof openArchive>>;
  readonly meter: Meter;
  readonly arrivals: Readonly<Record<"jobs" | "alignment", Arrivals>>;
  readonly metrics: NodeMetrics;
  readonly rules: CallRules;
  readonly listen: ListenOptions;
  /** Whether this process answers calls on the port; otherwise only health checks. */
  readonly servesPort: boolean;
  readonly access: AccessLog | undefined;
  readonly log: Log;
}

/** Opens the services of the contract, and the server with its doors. */
export async function openDoors(config: Config, parts: AsyncDisposableStack, given: DoorParts) {
  const { database, recognizer, sandbox, archive, meter, arrivals, metrics, rules } = given;
  const { listen, servesPort, access, log } = given;
  const { allow, allowWebhooks, httpRules } = rules;
  const { db } = database;
  const { store } = archive;
  let address = "";
  const publicUrl = () => config.publicUrl ?? reachable(address);
  const collects = config.role !== "worker" && archive.quarantine === undefined;
  const media = await openMediaOf(config, parts, { db, store, publicUrl, collects, arrivals, log });
  const memory = memoryOf(config);
  const answers = new HeldBytes(memory.answers);
  const watches = new NodeWatches(db, { held: new HeldBytes(memory.watches) });
  const pageTokens = await openPageTokens(db);
  const decoding = { recognizer, sandbox, accountHints: createAccountHints({ db }) };
  const { attempts, authenticator } = createCallers(config, { db, publicUrl, meter, log });
  const transcripts = transcriptsService(
    { db, media, pageTokens, watches, binDays: config.binDays },
    { answers, connectionsMax: config.database.connectionsMax, attempts, log },
    { arrivals: arrivals.jobs, allow, recognizer, meter, log },
    { arrivals: arrivals.alignment, aligner: recognizer, meter, stopping: watches.stopping, log },
  );
  const speech = speechServices({ ...decoding, ...transcripts }, meter, config);
  const managing = { db, pageTokens, publicUrl, meter, log };
  const accounts = accountServices(managing, { allowWebhooks, settings: config });
  const services = [...transcripts.services, ...speech.services, ...accounts];
  const reading = { longMessages: parts.use(openSegmentsReader()), requestBytes: memory.bodies };
  const server = parts.use(
    await openServer(listen, {
      ...(servesPort
        ? {
            api: { services, httpRules, authenticator, explain: databaseTrouble },
            ...transcripts.doors,
            ...(await openDialects({ ...speech.parts, db, sandbox, log }, dialectOptions(config))),
            console: await openConsole(config, { db, store, attempts, publicUrl, log }),
          }
        : { api: { services: [], authenticator, explain: databaseTrouble } }),
      network: networkOf(config, publicUrl),
      health: healthOptions({ database, recognizer, archive, sandbox }, config.role),
      traffic: { ...reading, answers },
      ...metrics.server,
      access,
      log,
    }),
  );
  address = server.address;
  return { server, watches, speech, authenticator, publicUrl };
}
