const mebibyte = 1 << 20;

/**
 * What everything but recognition costs, from bench/RESULTS.md. Where it has two figures, this is
 * the larger one, of cores that were twice as slow and not free.
 */
export const publishedCosts = {
  /** "Live streams, 2026-11-20": chunks of 100 ms. */
  chunksPerSecond: 10,
  /**
   * CPU milliseconds for a chunk of a live stream: "Live streams, 2026-11-20", the paragraph "Run
   * again on 2026-11-23". The engine's is the transport to the engine and waking up for a chunk.
   */
  chunkCpuMs: { frontEnd: 0.126, engine: 0.069, database: 0.005 },
  /**
   * CPU milliseconds for a second of a recording: "Engines side by side, 2026-11-22", the text
   * below its last table. The worker's is with its decoder.
   */
  recordingCpuMs: { worker: 5, database: 2.5 },
  /** The process that holds sockets: "Live streams, 2026-11-20", run again, before its sockets. */
  frontEndBytes: 89 * mebibyte,
  /** A socket, from the same paragraph, and its queues, the most of docs/memory.md. */
  streamBytes: 28 * 1024 + 2 * 256_000,
  /** "Jobs, 2026-11-22": the most of a tree over 8 h of MP3, with PostgreSQL and an engine. */
  workerBytes: 406 * mebibyte,
  /** "Live streams, 2026-11-20": the tree with 10,000 sockets, without the process of these. */
  databaseBytes: (387 - 262) * mebibyte,
} as const;
