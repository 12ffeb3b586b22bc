import { CallMetrics, type ServedMethod } from "./call-metrics.ts";
import { ModelLabels } from "./labels.ts";
import { MetricRegistry } from "./metric-registry.ts";
import type { MetricsFormat } from "./metrics-format.ts";
import { NodeMetrics, type NodeFacts } from "./node-metrics.ts";
import { QueueMetrics, type QueueFacts } from "./queue-metrics.ts";
import { SpeechMetrics, type EngineFacts } from "./speech-metrics.ts";
import { StorageMetrics, type PoolFacts } from "./storage-metrics.ts";

/** Returns the state of the parts of a node, for a scrape. */
export interface MetricsSources {
  readonly engines: () => EngineFacts;
  /** Absent on a node without a database. */
  readonly pool?: () => PoolFacts;
  readonly queues?: () => Promise<QueueFacts>;
  readonly node: () => Promise<NodeFacts>;
  /** The folder on whose disk the data of the node is. */
  readonly dataFolder: string;
}

export interface MetricsOptions {
  readonly version: string;
  readonly role: string;
  readonly methods: readonly ServedMethod[];
}

/** How long the state of the queues is reused: each node asks the shared database for it. */
const queuesMsMax = 15_000;
/** How long a scrape waits for the database before it reports the values of the last scrape. */
const answerMsMax = 3_000;

/** The metrics of a node: its recorders, and the text of a scrape. */
export class Metrics implements Disposable {
  readonly calls: CallMetrics;
  readonly engines: SpeechMetrics;
  readonly queues: QueueMetrics;
  readonly storage: StorageMetrics;
  readonly node: NodeMetrics;
  readonly #registry = new MetricRegistry();
  #sources: MetricsSources | undefined;
  #queuesEndAt = -Infinity;
  #refreshing: Promise<void> | undefined;

  constructor({ version, role, methods }: MetricsOptions) {
    this.node = new NodeMetrics(this.#registry, { version, role });
    this.calls = new CallMetrics(this.#registry, methods);
    this.engines = new SpeechMetrics(this.#registry, new ModelLabels());
    this.queues = new QueueMetrics(this.#registry);
    this.storage = new StorageMetrics(this.#registry);
  }

  /** Sets where scrapes read the state of the node. */
  readFrom(sources: MetricsSources): void {
    this.#sources = sources;
  }

  /** Returns the metrics as text. */
  async scrape(format: MetricsFormat): Promise<string> {
    // Concurrent scrapes share one measurement.
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
    return await this.#registry.text(format);
  }

  async #refresh(): Promise<void> {
    const reads = [() => this.node.refreshProcess()];
    const sources = this.#sources;
    if (sources) {
      const { engines, node } = sources;
      reads.push(
        async () => this.engines.refresh(engines()),
        async () => this.node.refreshState(await node()),
      );
    }
    if (sources?.pool) {
      const { pool, dataFolder } = sources;
      reads.push(async () => this.storage.refresh(pool(), dataFolder));
    }
    if (sources?.queues) {
      const { queues } = sources;
      reads.push(() => this.#refreshQueues(queues));
    }
    const ends = await Promise.allSettled(reads.map(async (read) => inTime(read())));
    for (const { status } of ends) if (status === "rejected") this.node.scrapeFailed();
  }

  async #refreshQueues(queues: () => Promise<QueueFacts>): Promise<void> {
    const now = performance.now();
    if (now < this.#queuesEndAt) return;
    this.queues.refresh(await queues());
    this.#queuesEndAt = now + queuesMsMax;
  }

  [Symbol.dispose](): void {
    this.node[Symbol.dispose]();
  }
}

async function inTime(read: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("the part did not answer")), answerMsMax);
  try {
    await Promise.race([read, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
