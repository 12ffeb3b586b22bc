import type { Kysely } from "kysely";
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import type { Tables } from "./database/tables.ts";
import { servedMethods } from "./served-services.ts";
import type { EnginePool } from "./engines/pool/engine-pool.ts";
import { countOpenJobs } from "./jobs/job-counts.ts";
import { metricsPath, scrapeAnswer } from "./metrics/metrics-endpoint.ts";
import type { Metrics, MetricsSources } from "./metrics/metrics.ts";
import { openMetricsListener, type MetricsListenerParts } from "./metrics/open-metrics-listener.ts";
import type { QueueFacts } from "./metrics/queue-metrics.ts";
import type { EngineFacts } from "./metrics/speech-metrics.ts";
import type { FrontProcesses } from "./fronts/front-processes.ts";
import { frontName, type ScrapeReply, type ScrapeRequest } from "./fronts/front-messages.ts";
import type { MainLink } from "./fronts/main-link.ts";
import { answerFailure } from "./server/answer-failure.ts";
import { targetOf, writeHead, type HttpDoor } from "./server/http.ts";
import type { ServerParts } from "./server/server-parts.ts";
import type { Server } from "./server/server.ts";
import type { ServedCertificate } from "./server/tls/served-certificate.ts";
import { ServiceError } from "./std/service-error.ts";
import { packageVersion } from "./std/version.ts";
import { countPendingDeliveries } from "./webhooks/pending-deliveries.ts";

/** The metrics of a node: its recorders, which are undefined if the node has no metrics. */
export interface NodeMetrics
  extends Disposable, Partial<Pick<Metrics, "calls" | "engines" | "queues" | "storage">> {
  /**
   * What the server has of them: the recorder of calls, and on the common port the door of the
   * metrics, if there is a token and no listener.
   */
  readonly server: Pick<ServerParts, "others" | "recorder">;
  /**
   * Reads the state of these parts from now on, and opens the listener, which answers health checks
   * as well. Returns its address; undefined if there is no listener.
   */
  listen(parts: AsyncDisposableStack, measured: MeasuredParts): Promise<string | undefined>;
  /** Answers a scrape that a front process has received. */
  scrape(request: ScrapeRequest): Promise<ScrapeReply>;
  /** Returns the families of this process, for the main process of its node. */
  families(): Promise<readonly object[]>;
}

/** The parts whose state the metrics show. */
interface MeasuredParts {
  /** Absent on an engine node. */
  readonly database?: Pick<Database, "db" | "use">;
  readonly recognizer: Pick<EnginePool, "state" | "measures">;
  readonly server: Pick<Server, "health" | "state">;
  readonly certificate?: ServedCertificate | undefined;
  /** The front processes; absent if the node has none. */
  readonly fronts?: FrontProcesses | undefined;
  /** Whether this process is a front process, whose main process reads the queues. */
  readonly isFront?: boolean;
}

/**
 * Creates the metrics of a node. `front`: the link of a front process, which asks its main process
 * for them. Throws ConfigError for the file of the token.
 */
export async function createNodeMetrics(
  config: Config,
  front?: Pick<MainLink, "start" | "scrape">,
): Promise<NodeMetrics> {
  const { metrics: settings, role, dataFolder } = config;
  if (!settings) return noMetrics;
  const { listen } = settings;
  const token = settings.token;
  // Without metrics, their library is not loaded.
  const { Metrics } = await import("./metrics/metrics.ts");
  const metrics = new Metrics({
    version: packageVersion(),
    role,
    methods: servedMethods(),
    ...(front && { process: frontName(front.start.front) }),
  });
  const scrape = front && ((request: ScrapeRequest) => front.scrape(request));
  const { calls, engines, queues, storage } = metrics;
  return {
    calls,
    engines,
    queues,
    storage,
    server: {
      recorder: calls,
      others:
        listen || token === undefined
          ? []
          : [createMetricsDoor(scrape ?? ((request) => scrapeAnswer(request, { metrics, token })))],
    },
    async listen(parts, measured) {
      metrics.readFrom(sourcesOf(measured, dataFolder));
      if (measured.fronts) measured.fronts.onEnd = (families) => metrics.keep(families);
      if (!listen || measured.isFront) return undefined;
      const answerHealth = healthOf(measured.server);
      const opening = openMetricsListener({ ...listen, token }, { metrics, answerHealth });
      return parts.use(await opening).address;
    },
    async scrape({ method, headers: { authorization, accept } }) {
      const headers = { ...(authorization && { authorization }), ...(accept && { accept }) };
      const reply = await scrapeAnswer({ method, headers }, { metrics, token });
      return { ...reply, body: reply.body.toString() };
    },
    families: () => metrics.families(),
    [Symbol.dispose]: () => metrics[Symbol.dispose](),
  };
}

const noMetrics: NodeMetrics = {
  server: {},
  listen: () => Promise.resolve(undefined),
  scrape: () => Promise.reject(new Error("this node has no metrics")),
  families: () => Promise.resolve([]),
  [Symbol.dispose]() {},
};

function createMetricsDoor(
  scrape: (
    request: ScrapeRequest,
  ) => Promise<Omit<ScrapeReply, "body"> & { body: Buffer | string }>,
): HttpDoor {
  return {
    refusesByItself: true,
    handles: (request) => targetOf(request).split("?", 1)[0] === metricsPath,
    async handle(request, response) {
      const { authorization, accept } = request.headers;
      const given = { method: request.method ?? "GET", headers: { authorization, accept } };
      const { status, headers, body } = await scrape(given);
      writeHead(response, status, headers);
      response.end(body);
    },
  };
}

function healthOf({ health }: Pick<Server, "health">): MetricsListenerParts["answerHealth"] {
  return (request, response) => {
    if (!health.handles(request)) return false;
    health.handle(request, response).catch(() => {
      const problem = "the health check failed: see the log of the service";
      answerFailure(response, new ServiceError("internal", problem));
    });
    return true;
  };
}

function sourcesOf(
  { database, recognizer, server, certificate, fronts, isFront = false }: MeasuredParts,
  dataFolder: string,
): MetricsSources {
  return {
    engines: () => engineFacts(recognizer),
    ...(database && { pool: () => database.use() }),
    ...(database && !isFront && { queues: () => queueFacts(database.db) }),
    ...(fronts && {
      fronts: async () => ({ fronts: await fronts.measure(), losses: fronts.losses }),
    }),
    async node() {
      const { isReady, isLeaving, parts } = await server.state();
      const isUp = Object.entries(parts).map(([name, { ready }]) => [name, ready] as const);
      return {
        isReady: isReady && !isLeaving,
        parts: Object.fromEntries(isUp),
        isDraining: isLeaving,
        certificateExpiresAt: certificate?.current.expiresAt,
      };
    },
    dataFolder,
  };
}

function engineFacts(recognizer: Pick<EnginePool, "state" | "measures">): EngineFacts {
  const { load, models, refused, nodes = [] } = recognizer.state();
  const { liveLateMs, pids } = recognizer.measures();
  return {
    load,
    liveLateSeconds: liveLateMs / 1000,
    refused: refused.length,
    nodes,
    models: models.map((model) => ({ ...model, pids: pids.get(model.name) ?? [] })),
  };
}

async function queueFacts(db: Kysely<Tables>): Promise<QueueFacts> {
  const [jobs, deliveries] = await Promise.all([countOpenJobs(db), countPendingDeliveries(db)]);
  return {
    ...jobs,
    pendingDeliveries: deliveries.count,
    oldestDeliverySeconds: deliveries.oldestSeconds,
  };
}
