import { addedFamilies, keptFamilies } from "./add-families.ts";
import { CallMetrics, type ServedMethod } from "./call-metrics.ts";
import { ModelLabels } from "./labels.ts";
import { FrontMetrics, type FrontFacts } from "./front-metrics.ts";
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
  /** The front processes of the node; absent if it has none. */
  readonly fronts?: () => Promise<{
    readonly fronts: readonly FrontFacts[];
    readonly losses: number;
  }>;
  /** The folder on whose disk the data of the node is. */
  readonly dataFolder: string;
}

export interface MetricsOptions {
  readonly version: string;
  readonly role: string;
  /** The name of this process in the metrics of its node. Default: main. */
  readonly process?: string;
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
  #fronts: FrontMetrics | undefined;
  /** The families of the front processes at the last scrape. */
  #ofFronts: readonly (readonly object[])[] = [];
  /** The sums of the families of front processes that have ended. */
  #ofEnded: Promise<readonly object[]> = Promise.resolve([]);

  constructor({ version, role, process = "main", methods }: MetricsOptions) {
    this.node = new NodeMetrics(this.#registry, { version, role, process });
    this.calls = new CallMetrics(this.#registry, methods);
    this.engines = new SpeechMetrics(this.#registry, new ModelLabels());
    this.queues = new QueueMetrics(this.#registry);
    this.storage = new StorageMetrics(this.#registry);
  }

  /** Sets where scrapes read the state of the node. */
  readFrom(sources: MetricsSources): void {
    this.#sources = sources;
    if (sources.fronts) this.#fronts = new FrontMetrics(this.#registry);
  }

  /** Goes on counting what a front process has counted that has ended. */
  keep(families: readonly object[]): void {
    this.#ofEnded = this.#ofEnded.then((kept) => keptFamilies(kept, families));
  }

  /** Returns the families of this process, for the main process of its node. */
  async families(): Promise<readonly object[]> {
    await this.#refreshOnce();
    return await this.#registry.families();
  }

  /** Returns the metrics as text. */
  async scrape(format: MetricsFormat): Promise<string> {
    await this.#refreshOnce();
    if (!this.#fronts) return await this.#registry.text(format);
    return await this.#registry.text(format, [await this.#ofEnded, ...this.#ofFronts]);
  }

  /** Concurrent scrapes share one measurement. */
  async #refreshOnce(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  async #refresh(): Promise<void> {
    const reads = [() => this.node.refreshProcess()];
    const sources = this.#sources;
    if (sources) {
      const { engines, node, dataFolder } = sources;
      reads.push(
        () => this.storage.refreshDisk(dataFolder),
        async () => this.engines.refresh(engines()),
        async () => this.node.refreshState(await node()),
      );
    }
    if (sources?.pool) {
      const { pool } = sources;
      reads.push(async () => this.storage.refresh(pool()));
    }
    if (sources?.fronts) {
      const { fronts } = sources;
      reads.push(async () => this.#refreshFronts(await fronts()));
    }
    if (sources?.queues) {
      const { queues } = sources;
      reads.push(() => this.#refreshQueues(queues));
    }
    const ends = await Promise.allSettled(reads.map(async (read) => inTime(read())));
    for (const { status } of ends) if (status === "rejected") this.node.scrapeFailed();
  }

  #refreshFronts({
    fronts,
    losses,
  }: {
    readonly fronts: readonly FrontFacts[];
    readonly losses: number;
  }): void {
    this.#fronts?.refresh(fronts, losses);
    this.#ofFronts = fronts.map(({ families }) => addedFamilies(families));
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
