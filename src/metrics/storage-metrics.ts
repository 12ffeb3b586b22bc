import { statfs } from "node:fs/promises";
import type { Counter, Gauge } from "prom-client";
import type { MetricRegistry } from "./metric-registry.ts";
import type { HistogramSeries, PlainHistogram } from "./plain-histogram.ts";
import {
  mediaOperations,
  type MediaOperation,
  type MediaRecorder,
  type PoolRecorder,
} from "./recorders.ts";

/** The connections of a node to the database. */
export interface PoolFacts {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
  readonly max: number;
}

/** The media store, the database connections and the disk. */
export class StorageMetrics implements MediaRecorder, PoolRecorder {
  readonly #operations: Counter<"operation" | "result">;
  readonly #seconds: PlainHistogram<"operation">;
  readonly #bytes: Counter;
  readonly #connections: Gauge<"state">;
  readonly #max: Gauge;
  readonly #waiting: Gauge;
  readonly #waits: HistogramSeries;
  readonly #disk: { readonly free: Gauge; readonly size: Gauge };
  /** The bytes since the last scrape: they are added up here for each chunk. */
  #written = 0;

  constructor(registry: MetricRegistry) {
    this.#operations = registry.counter({
      name: "hlust_media_operations_total",
      help: "Operations on the media store, by result",
      labelNames: ["operation", "result"],
    });
    this.#seconds = registry.histogram({
      name: "hlust_media_operation_duration_seconds",
      help: "Time of operations on the media store; a put includes waiting for its bytes",
      labelNames: ["operation"],
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 30],
    });
    this.#bytes = registry.counter({
      name: "hlust_media_written_bytes_total",
      help: "Bytes that this node has written to the media store",
    });
    this.#connections = registry.gauge({
      name: "db_client_connections",
      help: "Database connections of this node, used or idle",
      labelNames: ["state"],
    });
    this.#max = registry.gauge({
      name: "db_client_connection_max",
      help: "Maximum number of database connections; fewer while the server refuses more",
    });
    this.#waiting = registry.gauge({
      name: "db_client_connection_pending_requests",
      help: "Calls that wait for a database connection",
    });
    this.#waits = registry
      .histogram({
        name: "db_client_connection_wait_time_seconds",
        help: "Time that calls waited for a database connection",
        buckets: [0.001, 0.01, 0.05, 0.25, 1, 5],
      })
      .series({});
    this.#disk = {
      free: registry.gauge({
        name: "hlust_disk_free_bytes",
        help: "Free bytes of the disk with HLUST_DATA",
      }),
      size: registry.gauge({
        name: "hlust_disk_size_bytes",
        help: "Size of the disk with HLUST_DATA",
      }),
    };
    for (const operation of mediaOperations) {
      this.#seconds.series({ operation });
      for (const result of ["ok", "failed"]) this.#operations.inc({ operation, result }, 0);
    }
  }

  operated(operation: MediaOperation, seconds: number, hasFailed: boolean): void {
    this.#operations.inc({ operation, result: hasFailed ? "failed" : "ok" });
    this.#seconds.series({ operation }).observe(seconds);
  }

  wrote(bytes: number): void {
    this.#written += bytes;
  }

  waited(seconds: number): void {
    this.#waits.observe(seconds);
  }

  /** Brings the families of media and database connections up to date before a scrape. */
  refresh(pool: PoolFacts): void {
    this.#bytes.inc(this.#written);
    this.#written = 0;
    this.#connections.set({ state: "used" }, pool.used);
    this.#connections.set({ state: "idle" }, pool.idle);
    this.#max.set(pool.max);
    this.#waiting.set(pool.waiting);
  }

  /** Brings the families of the disk up to date before a scrape. */
  async refreshDisk(dataFolder: string): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(dataFolder);
    this.#disk.free.set(bavail * bsize);
    this.#disk.size.set(blocks * bsize);
  }
}
