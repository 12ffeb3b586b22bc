import type { Kysely } from "kysely";
import { join } from "node:path";
import { ensureFirstAccount, type FirstKey } from "./accounts/first-account.ts";
import { chooseSandbox } from "./audio/sandbox.ts";
import { createSignInToken, signInLink } from "./auth/sign-in-token.ts";
import { openMeter } from "./auth/meter.ts";
import { openListen } from "./app-options.ts";
import type { Config } from "./config.ts";
import { endOf, endWatches, type NodeEnd } from "./end-node.ts";
import type { Tables } from "./database/tables.ts";
import { databaseTrouble, openDatabase } from "./database/database.ts";
import { openWyoming, type Wyoming } from "./dialects/wyoming/open-wyoming.ts";
import { openEnginePool, type EnginePool } from "./engines/pool/engine-pool.ts";
import { SharedProcesses } from "./engines/nodes/shared-processes.ts";
import type { KeptSockets } from "./kept-sockets.ts";
import type { FrontProcesses } from "./fronts/front-processes.ts";
import { HandedConnections } from "./fronts/handed-connections.ts";
import type { MainLink } from "./fronts/main-link.ts";
import { SharedPort } from "./fronts/shared-port.ts";
import { Arrivals } from "./jobs/arrivals.ts";
import { openJobWork } from "./open-job-work.ts";
import { announceNode } from "./announce-node.ts";
import { createNodeMetrics, type NodeMetrics } from "./open-metrics.ts";
import { databaseShare, openFronts } from "./open-fronts.ts";
import { openArchive } from "./open-storage.ts";
import { loadingModels } from "./readiness.ts";
import type { AccessLog } from "./server/access-log.ts";
import { createAnswerError } from "./server/answer-errors.ts";
import { reportBug } from "./server/server.ts";
import type { ServedCertificate } from "./server/tls/served-certificate.ts";
import type { Log } from "./std/log.ts";
import { prepareDataFolder } from "./std/prepare-data-folder.ts";
import { packageVersion } from "./std/version.ts";
import { openDoors, openRules } from "./open-doors.ts";

export interface App extends NodeEnd {
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
  /** The front processes of this node; undefined if this process serves the port itself. */
  readonly fronts?: Pick<FrontProcesses, "replace" | "reload"> | undefined;
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
    /**
     * The environment with the settings, for the front processes. Default: this process serves the
     * port itself.
     */
    readonly environment?: NodeJS.ProcessEnv;
    /** The link of a front process to its main process. */
    readonly front?: MainLink;
    /** The sockets that stay open after this process. Default: none. */
    readonly kept?: KeptSockets;
    /** Called with the reason for a failed opening, before the open parts are closed. */
    readonly onFailure?: (error: unknown) => void;
  },
): Promise<App> {
  const { log, access, signal, isQuarantined = false, environment, front, onFailure } = options;
  const { kept = {} } = options;
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
      environment,
      front,
      kept,
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
  readonly environment: NodeJS.ProcessEnv | undefined;
  readonly front: MainLink | undefined;
  readonly kept: KeptSockets;
}

async function openParts(
  config: Config,
  parts: AsyncDisposableStack,
  opening: Opening,
): Promise<App> {
  const { log, isQuarantined, environment, front, kept } = opening;
  const hasFronts = environment !== undefined && config.frontProcesses > 1;
  const rules = await openRules(config);
  const { allow, allowWebhooks } = rules;
  const listen = await openListen(config, parts, opening);
  await prepareDataFolder(config.dataFolder);
  const metrics = parts.use(await createNodeMetrics(config, front));
  const share = hasFronts ? new SharedProcesses() : undefined;
  const { database, recognizer, sandbox } = await openSlowParts(config, parts, opening, {
    metrics,
    share,
  });
  const { db } = database;
  // The archive is opened before anything is written, so that a database of another archive stays
  // unchanged.
  const archive = await openArchive(config, parts, { db, log, isQuarantined }, metrics);
  const { store, quarantine } = archive;
  const firstKey = await ensureFirstAccount({ db, dataFolder: config.dataFolder, log });
  const meter = parts.use(openMeter({ db, accountLimits: config.accountLimits, log }));
  const runsJobs = config.role !== "api" && quarantine === undefined;
  const arrivals = {
    jobs: new Arrivals(() => front?.arrived("jobs")),
    alignment: new Arrivals(() => front?.arrived("alignment")),
  };
  const working = { database, arrivals, store, allow, recognizer, sandbox, meter, log };
  const sending = { allowWebhooks, recorder: metrics.queues };
  const workers = runsJobs ? await openJobWork(config, parts, { ...working, ...sending }) : [];

  // A worker only answers health checks.
  const answersCalls = config.role !== "worker";
  const port = hasFronts ? parts.use(await SharedPort.open(listen, log)) : undefined;
  const source = port ? new HandedConnections(port, () => {}) : front?.connections;
  const { server, watches, speech, authenticator, publicUrl } = await openDoors(config, parts, {
    ...working,
    archive,
    metrics,
    rules,
    listen: { ...listen, source },
    servesPort: answersCalls && !hasFronts,
    access: opening.access,
  });
  // Streams are aborted before the doors close: streams that end only with their job would keep the
  // doors open.
  parts.defer(() => endWatches(watches));
  const { address } = server;
  const serving = { port, share, recognizer, arrivals, metrics };
  const fronts = await openFrontsOf(config, parts, opening, serving);
  const measured = { database, recognizer, server, fronts, isFront: front !== undefined };
  const metricsAddress = await metrics.listen(parts, { ...measured, ...listen });
  const streams = { openStreams: () => meter.openStreams + (fronts?.openStreams ?? 0) };
  if (front) front.measures = { ...streams, families: () => metrics.families() };
  else
    await announceNode(config, parts, { database, recognizer, server, ...streams, workers, log });
  const calls = { ...speech.parts, authenticator, publicUrl, recorder: metrics.calls, log };
  const wyoming = await openWyomingOf(config, parts, { ...calls, kept: kept.wyoming });
  const open = parts.move();
  return {
    address,
    wyomingAddress: wyoming?.address,
    metricsAddress,
    certificate: listen.certificate,
    firstKey,
    firstLink: answersCalls ? await firstLinkOf(db, firstKey, publicUrl()) : undefined,
    ...loadingOf(recognizer),
    ...endOf(open, { server, fronts, wyoming, watches, kept, ...streams, workers, log }),
    fronts,
    quarantine,
  };
}

/** Opens the front processes on the port that they share; undefined if there is none. */
async function openFrontsOf(
  config: Config,
  parts: AsyncDisposableStack,
  { log, signal, isQuarantined, environment }: Opening,
  {
    port,
    share,
    arrivals,
    metrics,
    recognizer,
  }: {
    readonly port: SharedPort | undefined;
    readonly share: SharedProcesses | undefined;
    readonly arrivals: Readonly<Record<"jobs" | "alignment", Arrivals>>;
    readonly metrics: NodeMetrics;
    readonly recognizer: EnginePool;
  },
): Promise<FrontProcesses | undefined> {
  if (!environment || !port || !share) return undefined;
  return await openFronts(config, parts, {
    environment,
    port,
    shared: share,
    recognizer,
    isQuarantined,
    onArrival: (queue) => arrivals[queue].announce(),
    scrape: (request) => metrics.scrape(request),
    signal,
    log,
  });
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
  {
    kept,
    ...given
  }: Omit<Parameters<typeof openWyoming>[1], "answerError" | "defaultLanguage" | "version"> & {
    readonly kept: KeptSockets["wyoming"];
  },
): Promise<Wyoming | undefined> {
  if (!wyoming || role === "worker") return undefined;
  const answerError = createAnswerError(databaseTrouble, reportBug(given.log), callers.contact);
  const version = packageVersion();
  const called = { ...given, answerError, defaultLanguage, version };
  return parts.use(await openWyoming({ ...wyoming, kept }, called));
}

/**
 * Opens the slowest parts concurrently, since they do not use each other. They are closed in any
 * order. If one part fails, the other parts are aborted, and are closed with the rest.
 */
async function openSlowParts(
  config: Config,
  parts: AsyncDisposableStack,
  { log, signal, failed }: Pick<Opening, "log" | "signal" | "failed">,
  {
    metrics,
    share,
  }: { readonly metrics: NodeMetrics; readonly share: SharedProcesses | undefined },
) {
  const folder = join(config.dataFolder, "postgres");
  const opening = [
    openDatabase({
      ...config.database,
      ...(share && { connectionsMax: databaseShare(config) }),
      folder,
      recorder: metrics.storage,
      log,
      signal,
    }).then((database) => parts.use(database)),
    openEnginePool({
      engine: config.engine,
      voiceActivity: config.voiceActivity,
      liveEffort: config.liveEffort,
      onnx: config.onnx,
      processes: config.engineProcesses,
      hasOwnModels: config.engines.hasOwnModels,
      nodes: config.engines.nodes,
      modelsFolder: config.modelsFolder,
      modelKeys: config.modelKeys,
      get choice() {
        return config.modelChoice;
      },
      ...(share && { share }),
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
