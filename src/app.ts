import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ensureFirstAccount, type FirstKey } from "./accounts/first-account.ts";
import { chooseSandbox } from "./audio/sandbox.ts";
import { createAuthenticator } from "./auth/authenticate.ts";
import { accountsOf } from "./auth/member-accounts.ts";
import { createOpenId } from "./auth/open-id.ts";
import { createSessions } from "./auth/sessions.ts";
import { createSignIn } from "./auth/sign-in.ts";
import { createSignInToken, signInLink } from "./auth/sign-in-token.ts";
import { openMeter } from "./auth/meter.ts";
import { meteredAuthenticator } from "./auth/metered-authenticator.ts";
import { createRefusedAttempts } from "./auth/refused-attempts.ts";
import { ConfigError, memoryShares, type Config } from "./config.ts";
import { databaseTrouble, openDatabase } from "./database/database.ts";
import { httpRulesOf, openDoors } from "./doors.ts";
import { openEnginePool } from "./engines/pool/engine-pool.ts";
import { openDescriber } from "./describe/describer.ts";
import { openJobQueue } from "./jobs/job-queue.ts";
import { openArchiveSweep } from "./jobs/archive-sweep.ts";
import { openWorker } from "./jobs/worker/worker.ts";
import type { MediaStore } from "./media/media-store.ts";
import { openServedArchive } from "./media/open-served-archive.ts";
import { parseMediaAllowList, type MediaAllowList } from "./media/media-url.ts";
import { openUploadCollector } from "./media/upload-collector.ts";
import { defaultConnectionsMax } from "./server/connection-limits.ts";
import { loadingModels, readinessChecks, useOf } from "./readiness.ts";
import { openServer } from "./server/server.ts";
import { HeldBytes } from "./std/held-bytes.ts";
import { newId } from "./std/ids.ts";
import { errorFields, type Log } from "./std/log.ts";
import { parseNetworks } from "./std/networks.ts";
import { reachable } from "./std/reachable.ts";
import { ServiceError } from "./std/service-error.ts";
import { workerThreadsMax } from "./transcripts/worker-threads.ts";
import { openSegmentsReader } from "./transcripts/segments-reader.ts";
import { openDeliveryWorker } from "./webhooks/delivery-worker.ts";

/** Where script/build-console.ts puts the console. */
const consoleFolder = resolve(import.meta.dirname, "../dist/console");

export interface App extends AsyncDisposable {
  /** http://<host>:<port>, as bound. */
  readonly address: string;
  /** The first API key, when this start has made it. */
  readonly firstKey: FirstKey | undefined;
  /**
   * Opens the console once, within 10 minutes, with that key; undefined also where this process has
   * no console.
   */
  readonly firstLink: string | undefined;
  /**
   * Models that were found at the start and are still being loaded, each with how far it is: `NAME
   * (1 of 2 processes)`.
   */
  loading(): readonly string[];
  /** Resolves when none is; rejects with the reason of the signal. */
  loaded(signal: AbortSignal): Promise<void>;
  /**
   * Before it is disposed of: health says from now on that it is not ready, and no more jobs are
   * taken. Calls are answered as before.
   */
  leave(): void;
  /**
   * Why the service only answers calls, and does nothing by itself; undefined: it does all that it
   * does.
   */
  readonly quarantine: string | undefined;
}

/**
 * Opens every part of the service in order, and closes them in reverse: doors first, so that calls
 * in flight still find what they need. The signal gives up opening. Throws ConfigError for a
 * setting that cannot be used; with a sentence for the operator when a part cannot be opened.
 */
export async function openApp(
  config: Config,
  options: {
    readonly log: Log;
    readonly signal?: AbortSignal;
    /** Whether the operator wants the archive left alone: see openServedArchive(). Default: no. */
    readonly isQuarantined?: boolean;
    /** Told why the opening fails, before what is open is closed. */
    readonly onFailure?: (error: unknown) => void;
  },
): Promise<App> {
  const { log, signal, isQuarantined = false, onFailure } = options;
  await using parts = new AsyncDisposableStack();
  const failed = new AbortController();
  failed.signal.addEventListener("abort", () => onFailure?.(failed.signal.reason));
  const given = signal ? [signal, failed.signal] : [failed.signal];
  try {
    return await openParts(config, parts, {
      log,
      signal: AbortSignal.any(given),
      failed,
      isQuarantined,
    });
  } catch (error) {
    failed.abort(error);
    throw failed.signal.reason;
  }
}

/**
 * `failed` is aborted with what the first part fails with, which gives up the others: `signal`
 * aborts with it.
 */
async function openParts(
  config: Config,
  parts: AsyncDisposableStack,
  {
    log,
    signal,
    failed,
    isQuarantined,
  }: {
    readonly log: Log;
    readonly signal: AbortSignal;
    readonly failed: AbortController;
    readonly isQuarantined: boolean;
  },
): Promise<App> {
  const allow = allowListOf("HLUST_ALLOW_MEDIA_FROM", config.allowMediaFrom);
  const allowWebhooks = allowListOf("HLUST_ALLOW_WEBHOOKS_TO", config.allowWebhooksTo);
  const httpRules = await httpRulesOf(config);
  await mkdir(config.dataFolder, { recursive: true, mode: 0o700 });
  // The slowest parts do not need each other. When one fails, the others are given up, and closed
  // with the rest.
  const opening = [
    openDatabase({
      ...config.database,
      folder: join(config.dataFolder, "postgres"),
      log,
      signal,
    }).then((database) => parts.use(database)),
    openEnginePool({
      engine: config.engine,
      processes: config.engineProcesses,
      modelsFolder: config.modelsFolder,
      choice: config.modelChoice,
      log,
      signal,
    }).then((pool) => parts.use(pool)),
    chooseSandbox(config.sandbox, log),
  ] as const;
  for (const part of opening) part.catch((error: unknown) => failed.abort(error));
  await Promise.allSettled(opening);
  const [database, recognizer, sandbox] = await Promise.all(opening);
  signal.throwIfAborted();
  const { db } = database;
  // Before anything is made: a database that is not the archive's stays as it is.
  const { removedMediaDays: removedDays } = config;
  const archive = parts.use(
    await openServedArchive(config, { db, log, isQuarantined, removedDays }),
  );
  const { store, quarantine } = archive;
  const firstKey = await ensureFirstAccount({ db, dataFolder: config.dataFolder, log });
  const { accountLimits } = config;
  const { connectionsMax = defaultConnectionsMax() } = config.callers;
  const memory = memoryShares(config.memoryMb, { connectionsMax, sideThreads: workerThreadsMax });
  const answersHeld = new HeldBytes(memory.answers);
  const { storedBytes: storedBytesMax } = accountLimits;
  const meter = parts.use(openMeter({ db, accountLimits, log }));
  const runsJobs = config.role !== "api" && quarantine === undefined;
  const queue = parts.use(await openJobQueue({ database, log, supervise: runsJobs }));
  let worker: AsyncDisposable | undefined;
  if (runsJobs) {
    const scratchFolder = join(config.dataFolder, "scratch");
    const { keepMedia, uploadBytesMax: mediaBytesMax, engineProcesses: parallelism } = config;
    const durationMsMax = config.recordingSecondsMax * 1000;
    const limits = { keepMedia, mediaBytesMax, storedBytesMax, parallelism, durationMsMax };
    const working = { database, queue, store, allow, recognizer, sandbox, scratchFolder, log };
    worker = parts.use(await openWorker({ ...working, ...limits, meter }));
    parts.use(await openDescriber({ ...working, durationMsMax }));
    parts.use(openArchiveSweep({ db, store, log }));
    parts.use(openDeliveryWorker({ database, allow: allowWebhooks, log }));
  }

  const { direct } = store;
  const { uploadBytesMax } = config;
  // A worker answers nothing but its health.
  const answers = config.role !== "worker";
  const taking = { db, store, uploadBytesMax, storedBytesMax, log };
  const collector =
    direct && answers && quarantine === undefined
      ? parts.use(openUploadCollector({ ...taking, direct }))
      : undefined;
  let address = "";
  const publicUrl = () => config.publicUrl ?? reachable(address);
  const segmentsReader = parts.use(openSegmentsReader());
  const attempts = createRefusedAttempts(config.callers.refusedPerMinute);
  const stopping = new AbortController();
  const { services, media } = await openDoors(config, {
    database,
    store,
    collector,
    queue,
    allow,
    allowWebhooks,
    recognizer,
    meter,
    publicUrl,
    answers: answersHeld,
    watches: new HeldBytes(memory.watches),
    stopping: stopping.signal,
    log,
  });
  const sessions = createSessions({ db, attempts, log });
  const server = parts.use(
    await openServer({
      host: config.host,
      port: config.port,
      services: answers ? services : [],
      media: answers ? media : undefined,
      authenticator: meteredAuthenticator(
        createAuthenticator({ db, publicUrl, attempts, log }),
        meter,
      ),
      console: answers
        ? {
            sessions,
            signIn: createSignIn({ db, sessions, attempts, log }),
            accountsOf: (session) => accountsOf(db, session),
            openId: config.openId && createOpenId(config.openId),
            attempts,
            publicUrl,
            folder: consoleFolder,
            mediaOrigins: await originsOf(store),
            log,
          }
        : undefined,
      readiness: readinessChecks({ database, recognizer, archive, sandbox }, config.role),
      useOf,
      explain: databaseTrouble,
      publicUrl,
      httpRules: answers ? httpRules : undefined,
      longMessages: segmentsReader,
      requestBytes: memory.bodies,
      answers: answersHeld,
      ...callersOf(config, connectionsMax),
      log,
    }),
  );
  // Before the doors: streams that end with a job do not keep them open.
  parts.defer(() => {
    stopping.abort(new ServiceError("unavailable", "the service is shutting down"));
  });
  address = server.address;
  const firstLink =
    firstKey && answers
      ? signInLink(publicUrl(), await createSignInToken(db, firstKey.owner))
      : undefined;
  const open = parts.move();
  return {
    address,
    firstKey,
    firstLink,
    loading: () => loadingModels(recognizer.state()),
    loaded: (signal) => recognizer.loaded(signal),
    leave() {
      server.leave();
      // Again with the rest, and waited for then.
      Promise.resolve(worker?.[Symbol.asyncDispose]()).catch((error: unknown) => {
        log.error(errorFields(error), "worker.stop_failed");
      });
    },
    quarantine,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Where browsers send and find media besides the service itself: its presigned URLs tell. */
async function originsOf({ direct }: MediaStore): Promise<string[]> {
  return direct ? [new URL(await direct.uploadUrl(newId())).origin] : [];
}

/**
 * This machine: reverse proxies and load tools on it call for many, and whoever else is on it needs
 * no connections to harm it.
 */
const thisMachine = ["127.0.0.0/8", "::1"];

/** Who may call from where, and how much of the doors one caller may hold. */
function callersOf(config: Config, connectionsMax: number) {
  const { trustedProxies, allowedOrigins, connectionsPerAddress } = config.callers;
  return {
    contact: config.callers.contact,
    isTrustedProxy: parseNetworks(trustedProxies),
    allowedOrigins,
    limits: {
      connections: {
        max: connectionsMax,
        perAddressMax: connectionsPerAddress,
        isExempt: parseNetworks([...trustedProxies, ...thisMachine]),
      },
    },
  };
}

function allowListOf(setting: string, entries: readonly string[]): MediaAllowList {
  try {
    return parseMediaAllowList(entries);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${setting}: ${problem}`, { cause: error });
  }
}
