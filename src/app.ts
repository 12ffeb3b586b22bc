import type { Kysely } from "kysely";
import { join } from "node:path";
import { ensureFirstAccount, type FirstKey } from "./accounts/first-account.ts";
import { chooseSandbox } from "./audio/sandbox.ts";
import { createSignInToken, signInLink } from "./auth/sign-in-token.ts";
import { openMeter } from "./auth/meter.ts";
import { allowListOf, dialectOptions, memoryOf, networkOf, openListen } from "./app-options.ts";
import type { Config } from "./config.ts";
import type { Tables } from "./database/tables.ts";
import { databaseTrouble, openDatabase } from "./database/database.ts";
import {
  accountServices,
  httpRulesOf,
  openPageTokens,
  speechServices,
  transcriptsService,
} from "./doors.ts";
import { openDialects } from "./dialects/create-dialects.ts";
import { openWyoming, type Wyoming } from "./dialects/wyoming/open-wyoming.ts";
import { openEnginePool, type EnginePool } from "./engines/pool/engine-pool.ts";
import { Arrivals } from "./jobs/arrivals.ts";
import { createCallers, openConsole } from "./open-callers.ts";
import { openJobWork } from "./open-job-work.ts";
import { announceNode } from "./announce-node.ts";
import { createNodeMetrics, type NodeMetrics } from "./open-metrics.ts";
import { openArchive, openMediaOf } from "./open-storage.ts";
import { healthOptions, loadingModels } from "./readiness.ts";
import type { AccessLog } from "./server/access-log.ts";
import { createAnswerError } from "./server/answer-errors.ts";
import { openServer, reportBug, type Server } from "./server/server.ts";
import type { ServedCertificate } from "./server/tls/served-certificate.ts";
import { HeldBytes } from "./std/held-bytes.ts";
import { errorFields, type Log } from "./std/log.ts";
import { prepareDataFolder } from "./std/prepare-data-folder.ts";
import { reachable } from "./std/reachable.ts";
import { ServiceError } from "./std/service-error.ts";
import { packageVersion } from "./std/version.ts";
import { openSegmentsReader } from "./transcripts/segments-reader.ts";
import { createAccountHints } from "./vocabulary/account-hints.ts";
import { NodeWatches } from "./watches/node-watches.ts";

export interface App extends AsyncDisposable {
  /** The bound address, as http://<host>:<port>, or https:// with a certificate. */
  readonly address: string;
  /** The bound address of an engine node for other nodes, as <host>:<port>. */
  readonly engineAddress?: string | undefined;
  /** The bound address of Wyoming, as <host>:<port>; undefined if it does not listen. */
  readonly wyomingAddress: string | undefined;
  /** The bound address of the metrics, as http://<host>:<port>; undefined without a listener. */
  readonly metricsAddress: string | undefined;
  /** The certificate of the port; undefined without TLS. */
  readonly certificate: ServedCertificate | undefined;
  /** The first API key, if this start has created it. */
  readonly firstKey: FirstKey | undefined;
  /**
   * A link that opens the console with the first key, once and within 10 minutes. It is undefined
   * if there is no new key or this process has no console.
   */
  readonly firstLink: string | undefined;
  /**
   * Returns the models found at the start that are still loading, with their progress: `NAME (1 of
   * 2 processes)`.
   */
  loading(): readonly string[];
  /** Resolves when all models are loaded; rejects with the reason of the signal. */
  loaded(signal: AbortSignal): Promise<void>;
  /**
   * Prepares for the shutdown: from now on, health checks report "not ready", and no more jobs are
   * leased. Calls are answered as before.
   */
  leave(): void;
  /**
   * Refuses new calls and streams, ends watches, and waits for the other calls and streams that are
   * open: see Server.drain().
   */
  drain(msMax: number, hurried: AbortSignal): Promise<void>;
  /**
   * The reason why the service answers calls but runs no jobs, webhooks or sweeps; undefined if it
   * runs them.
   */
  readonly quarantine: string | undefined;
}

/**
 * Opens every part of the service in order. Closes the parts in reverse order: the doors first, so
 * that calls in flight can still use the other parts. The signal aborts the opening. Throws
 * ConfigError for an invalid setting, and an error with a sentence for the operator if a part
 * cannot be opened.
 */
export async function openApp(
  config: Config,
  options: {
    readonly log: Log;
    /** The log of calls. Default: none. */
    readonly access?: AccessLog | undefined;
    readonly signal?: AbortSignal;
    /** Whether the operator requested quarantine: see openServedArchive(). Default: no. */
    readonly isQuarantined?: boolean;
    /** Called with the reason for a failed opening, before the open parts are closed. */
    readonly onFailure?: (error: unknown) => void;
  },
): Promise<App> {
  const { log, access, signal, isQuarantined = false, onFailure } = options;
  await using parts = new AsyncDisposableStack();
  const failed = new AbortController();
  failed.signal.addEventListener("abort", () => onFailure?.(failed.signal.reason));
  const given = signal ? [signal, failed.signal] : [failed.signal];
  try {
    return await openParts(config, parts, {
      log,
      access,
      signal: AbortSignal.any(given),
      failed,
      isQuarantined,
    });
  } catch (error) {
    failed.abort(error);
    throw failed.signal.reason;
  }
}

/** The arguments with which the parts of the service are opened. */
interface Opening {
  readonly log: Log;
  readonly access: AccessLog | undefined;
  readonly signal: AbortSignal;
  /**
   * Aborted with the error of the first part that fails. This aborts `signal` too, and so the other
   * parts.
   */
  readonly failed: AbortController;
  readonly isQuarantined: boolean;
}

async function openParts(
  config: Config,
  parts: AsyncDisposableStack,
  opening: Opening,
): Promise<App> {
  const { log, isQuarantined } = opening;
  const { allow, allowWebhooks, httpRules } = await openRules(config);
  const listen = await openListen(config, parts, log);
  await prepareDataFolder(config.dataFolder);
  const metrics = parts.use(await createNodeMetrics(config));
  const { database, recognizer, sandbox } = await openSlowParts(config, parts, opening, metrics);
  const { db } = database;
  // The archive is opened before anything is written, so that a database of another archive stays
  // unchanged.
  const archive = await openArchive(config, parts, { db, log, isQuarantined }, metrics);
  const { store, quarantine } = archive;
  const firstKey = await ensureFirstAccount({ db, dataFolder: config.dataFolder, log });
  const meter = parts.use(openMeter({ db, accountLimits: config.accountLimits, log }));
  const runsJobs = config.role !== "api" && quarantine === undefined;
  const arrivals = { jobs: new Arrivals(), alignment: new Arrivals() };
  const working = { database, arrivals, store, allow, recognizer, sandbox, meter, log };
  const sending = { allowWebhooks, recorder: metrics.queues };
  const workers = runsJobs ? await openJobWork(config, parts, { ...working, ...sending }) : [];

  // A worker only answers health checks.
  const answersCalls = config.role !== "worker";
  let address = "";
  const publicUrl = () => config.publicUrl ?? reachable(address);
  const collects = answersCalls && quarantine === undefined;
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
      ...(answersCalls
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
      access: opening.access,
      log,
    }),
  );
  // Streams are aborted before the doors close: streams that end only with their job would keep the
  // doors open.
  parts.defer(() => endWatches(watches));
  address = server.address;
  const metricsAddress = await metrics.listen(parts, { database, recognizer, server, ...listen });
  await announceNode(config, parts, { database, recognizer, server, meter, workers, log });
  const calls = { ...speech.parts, authenticator, publicUrl, recorder: metrics.calls, log };
  const wyoming = await openWyomingOf(config, parts, calls);
  const open = parts.move();
  return {
    address,
    wyomingAddress: wyoming?.address,
    metricsAddress,
    certificate: listen.certificate,
    firstKey,
    firstLink: answersCalls ? await firstLinkOf(db, firstKey, publicUrl()) : undefined,
    ...loadingOf(recognizer),
    ...endOf(open, { server, wyoming, watches, workers, log }),
    quarantine,
  };
}

/** Reads the settings that are checked before anything is opened. Throws ConfigError. */
async function openRules(config: Config) {
  return {
    allow: allowListOf("HLUST_ALLOW_MEDIA_FROM", config.allowMediaFrom),
    allowWebhooks: allowListOf("HLUST_ALLOW_WEBHOOKS_TO", config.allowWebhooksTo),
    httpRules: await httpRulesOf(config),
  };
}

async function firstLinkOf(
  db: Kysely<Tables>,
  firstKey: FirstKey | undefined,
  publicUrl: string,
): Promise<string | undefined> {
  const owner = firstKey?.owner;
  return owner && signInLink(publicUrl, await createSignInToken(db, owner));
}

/** Returns how the models found at the start are loading. */
function loadingOf(recognizer: EnginePool): Pick<App, "loading" | "loaded"> {
  return {
    loading: () => loadingModels(recognizer.state()),
    loaded: (signal) => recognizer.loaded(signal),
  };
}

/** Opens the listener of Wyoming, if there is one. It closes before the other doors. */
async function openWyomingOf(
  { wyoming, role, defaultLanguage, callers }: Config,
  parts: AsyncDisposableStack,
  given: Omit<Parameters<typeof openWyoming>[1], "answerError" | "defaultLanguage" | "version">,
): Promise<Wyoming | undefined> {
  if (!wyoming || role === "worker") return undefined;
  const answerError = createAnswerError(databaseTrouble, reportBug(given.log), callers.contact);
  const version = packageVersion();
  return parts.use(await openWyoming(wyoming, { ...given, answerError, defaultLanguage, version }));
}

/** Returns how a node ends. */
function endOf(
  parts: AsyncDisposable,
  {
    workers,
    log,
    ...doors
  }: Parameters<typeof drainNode>[0] & {
    readonly workers: readonly AsyncDisposable[];
    readonly log: Log;
  },
): Pick<App, "leave" | "drain" | typeof Symbol.asyncDispose> {
  return {
    leave: () => leaveNode(doors.server, workers, log),
    drain: (...limits) => drainNode(doors, ...limits),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

/** Takes a node out of service: see App.leave(). */
function leaveNode(server: Server, workers: readonly AsyncDisposable[], log: Log): void {
  server.leave();
  // The workers are disposed of again with the other parts, which then wait for them.
  for (const worker of workers) {
    Promise.resolve(worker[Symbol.asyncDispose]()).catch((error: unknown) => {
      log.error(errorFields(error), "worker.stop_failed");
    });
  }
}

/**
 * Drains a node: see App.drain(). Watches would last as long as the node does, and their clients
 * open them again without a loss, so they do not hold it.
 */
async function drainNode(
  {
    server,
    wyoming,
    watches,
  }: {
    readonly server: Server;
    readonly wyoming: Wyoming | undefined;
    readonly watches: NodeWatches;
  },
  ...limits: Parameters<Server["drain"]>
): Promise<void> {
  endWatches(watches);
  await Promise.all([server.drain(...limits), wyoming?.drain(...limits)]);
}

function endWatches(watches: NodeWatches): void {
  watches.stop(new ServiceError("unavailable", "the service is shutting down"));
}

/**
 * Opens the slowest parts concurrently, since they do not use each other. They are closed in any
 * order. If one part fails, the other parts are aborted, and are closed with the rest.
 */
async function openSlowParts(
  config: Config,
  parts: AsyncDisposableStack,
  { log, signal, failed }: Omit<Opening, "isQuarantined" | "access">,
  metrics: NodeMetrics,
) {
  const folder = join(config.dataFolder, "postgres");
  const opening = [
    openDatabase({ ...config.database, folder, recorder: metrics.storage, log, signal }).then(
      (database) => parts.use(database),
    ),
    openEnginePool({
      engine: config.engine,
      voiceActivity: config.voiceActivity,
      liveEffort: config.liveEffort,
      processes: config.engineProcesses,
      hasOwnModels: config.engines.hasOwnModels,
      nodes: config.engines.nodes,
      modelsFolder: config.modelsFolder,
      modelKeys: config.modelKeys,
      get choice() {
        return config.modelChoice;
      },
      recorder: metrics.engines,
      log,
      signal,
    }).then((pool) => parts.use(pool)),
    chooseSandbox(config.sandbox, log),
  ] as const;
  for (const part of opening) part.catch((error: unknown) => failed.abort(error));
  await Promise.allSettled(opening);
  const [database, recognizer, sandbox] = await Promise.all(opening);
  signal.throwIfAborted();
  return { database, recognizer, sandbox };
}
