import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureFirstAccount, type FirstKey } from "./accounts/first-account.ts";
import { chooseSandbox, type Sandbox } from "./audio/sandbox.ts";
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
import { databaseTrouble, openDatabase, type Database } from "./database/database.ts";
import { httpRulesOf, openDoors } from "./doors.ts";
import { openEnginePool, type EnginePool } from "./engines/engine-pool.ts";
import { openDescriber } from "./jobs/describer.ts";
import { openJobQueue } from "./jobs/job-queue.ts";
import { openArchiveSweep } from "./jobs/archive-sweep.ts";
import { openWorker } from "./jobs/worker.ts";
import { removeUnrecordedMedia } from "./media/media-records.ts";
import type { MediaStore } from "./media/media-store.ts";
import { openMediaStore } from "./media/open-media-store.ts";
import { parseMediaAllowList, type MediaAllowList } from "./media/media-url.ts";
import { openUploadCollector } from "./media/upload-collector.ts";
import { defaultConnectionsMax } from "./server/connection-limits.ts";
import type { ReadinessCheck } from "./server/health.ts";
import { openServer } from "./server/server.ts";
import { HeldBytes } from "./std/held-bytes.ts";
import { newId } from "./std/ids.ts";
import { errorFields, type Log } from "./std/log.ts";
import { parseNetworks } from "./std/networks.ts";
import { reachable } from "./std/reachable.ts";
import { ServiceError } from "./std/service-error.ts";
import { sideThreadsMax } from "./transcripts/side-thread.ts";
import { openSegmentsReader } from "./transcripts/segments-reader.ts";
import { openDeliveryWorker } from "./webhooks/delivery-worker.ts";

/** Where script/build-console.ts puts the console. */
const consoleFolder = resolve(import.meta.dirname, "../dist/console");

export interface App extends AsyncDisposable {
  /** http://<host>:<port>, as bound. */
  readonly address: string;
  /** The first API key, when this start has made it. */
  readonly firstKey: FirstKey | undefined;
  /** Opens the console once, within 10 minutes, with that key; undefined also where this process has no console. */
  readonly firstLink: string | undefined;
}

/**
 * Opens every part of the service in order, and closes them in reverse: doors first, so that calls in flight still find what they
 * need. The signal gives up opening. Throws ConfigError for a setting that cannot be used; with a sentence for the operator when a part cannot be opened.
 */
export async function openApp(
  config: Config,
  { log, signal }: { readonly log: Log; readonly signal?: AbortSignal },
): Promise<App> {
  await using parts = new AsyncDisposableStack();
  const allow = allowListOf("HLUST_ALLOW_MEDIA_FROM", config.allowMediaFrom);
  const allowWebhooks = allowListOf("HLUST_ALLOW_WEBHOOKS_TO", config.allowWebhooksTo);
  const httpRules = await httpRulesOf(config);
  await mkdir(config.dataFolder, { recursive: true, mode: 0o700 });
  // The slowest parts do not need each other. When one fails, the others are closed with the rest.
  const opening = [
    openDatabase({
      url: config.databaseUrl,
      folder: join(config.dataFolder, "postgres"),
      log,
    }).then((database) => parts.use(database)),
    openEnginePool({
      engine: config.engine,
      processes: config.engineProcesses,
      modelsFolder: config.modelsFolder,
      choice: config.modelChoice,
      log,
      ...(signal && { signal }),
    }).then((pool) => parts.use(pool)),
    chooseSandbox(config.sandbox, log),
  ] as const;
  await Promise.allSettled(opening);
  const [database, recognizer, sandbox] = await Promise.all(opening);
  signal?.throwIfAborted();
  const { db } = database;
  const firstKey = await ensureFirstAccount({ db, dataFolder: config.dataFolder, log });
  const { accountLimits } = config;
  const { connectionsMax = defaultConnectionsMax() } = config.callers;
  const memory = memoryShares(config.memoryMb, { connectionsMax, sideThreads: sideThreadsMax });
  const answersHeld = new HeldBytes(memory.answers);
  const { storedBytes: storedBytesMax } = accountLimits;
  const meter = parts.use(openMeter({ db, accountLimits, log }));
  const store = parts.use(await openMediaStore(config, { log }));
  cleanMedia(parts, { db, store, log });
  const runsJobs = config.role !== "api";
  const queue = parts.use(await openJobQueue({ database, log, supervise: runsJobs }));
  if (runsJobs) {
    const scratchFolder = join(config.dataFolder, "scratch");
    const { keepMedia, uploadBytesMax: mediaBytesMax, engineProcesses: parallelism } = config;
    const durationMsMax = config.recordingSecondsMax * 1000;
    const limits = { keepMedia, mediaBytesMax, storedBytesMax, parallelism, durationMsMax };
    const working = { database, queue, store, allow, recognizer, sandbox, scratchFolder, log };
    parts.use(await openWorker({ ...working, ...limits, meter }));
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
    direct && answers ? parts.use(openUploadCollector({ ...taking, direct })) : undefined;
  let address = "";
  const publicUrl = () => config.publicUrl ?? reachable(address);
  const segmentsReader = parts.use(openSegmentsReader());
  const attempts = createRefusedAttempts(config.callers.refusedPerMinute);
  const stopping = new AbortController();
  const { services, media } = await openDoors(config, {
    database,
    segmentsReader,
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
      readiness: readinessOf({ database, recognizer, store, sandbox }),
      explain: databaseTrouble,
      publicUrl,
      httpRules: answers ? httpRules : undefined,
      answers: answersHeld,
      ...callersOf(config, connectionsMax),
      log,
    }),
  );
  // Before the doors: streams that end with a job do not keep them open.
  parts.defer(() => {
    stopping.abort(new ServiceError("unavailable", "the service is stopping"));
  });
  address = server.address;
  const firstLink =
    firstKey && answers
      ? signInLink(publicUrl(), await createSignInToken(db, firstKey.owner))
      : undefined;
  const open = parts.move();
  return { address, firstKey, firstLink, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/** Where browsers send and find media besides the service itself: its presigned URLs tell. */
async function originsOf({ direct }: MediaStore): Promise<string[]> {
  return direct ? [new URL(await direct.uploadUrl(newId())).origin] : [];
}

/** What a kill left in the store is looked for this often: it goes within the hour. */
const cleanEveryMs = 600_000;

/** Removes in the background what a kill left in the store, while the service runs. */
function cleanMedia(
  parts: AsyncDisposableStack,
  { db, store, log }: Pick<Database, "db"> & { readonly store: MediaStore; readonly log: Log },
): void {
  const stop = new AbortController();
  const { signal } = stop;
  const clean = async (): Promise<void> => {
    while (!signal.aborted) {
      await removeUnrecordedMedia({ db, store, log, signal }).catch((error: unknown) => {
        if (!signal.aborted) log.warn(errorFields(error), "media.cleaning_failed");
      });
      await sleep(cleanEveryMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const cleaning = clean();
  parts.defer(async () => {
    stop.abort();
    await cleaning;
  });
}

/** This machine: reverse proxies and load tools on it call for many, and whoever else is on it needs no connections to harm it. */
const thisMachine = ["127.0.0.0/8", "::1"];

/** Who may call from where, and how much of the doors one caller may hold. */
function callersOf(config: Config, connectionsMax: number) {
  const { trustedProxies, allowedOrigins, connectionsPerAddress } = config.callers;
  return {
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

function readinessOf(parts: {
  readonly database: Database;
  readonly recognizer: EnginePool;
  readonly store: MediaStore;
  readonly sandbox: Sandbox;
}): ReadinessCheck[] {
  const { database, recognizer, store, sandbox } = parts;
  return [
    { name: "database", check: () => database.ping() },
    { name: "engines", check: () => enginesCheck(recognizer) },
    { name: "media", check: () => store.ping() },
    { name: "sandbox", check: () => Promise.resolve({ kind: sandbox.kind }) },
  ];
}

/** Ready when some engine process is: the others take over from it, or are on their way. */
function enginesCheck(recognizer: EnginePool): Promise<object> {
  const { ready: running, load, ...state } = recognizer.state();
  if (running === 0) return Promise.reject(new Error("no engine process is ready"));
  return Promise.resolve({ ...state, running, load: Number(load.toFixed(2)) });
}
