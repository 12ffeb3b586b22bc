import type { Counter, Gauge } from "prom-client";
import type { ModelLabels } from "./labels.ts";
import type { MetricRegistry } from "./metric-registry.ts";
import type { PlainHistogram } from "./plain-histogram.ts";
import { ProcessUse } from "./process-use.ts";
import {
  engineExits,
  recognitionUses,
  streamEnds,
  type EngineExit,
  type EngineRecorder,
  type EngineWork,
  type LiveRecorder,
  type StreamEnd,
} from "./recorders.ts";

/** The bounds of the lag of results, in seconds. */
const lagSeconds = [0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];

/** The engines of a node, at the time of a scrape. */
export interface EngineFacts {
  /** The share in use of the cores that live streams may occupy. */
  readonly load: number;
  /** The longest delay of live audio in an engine process. */
  readonly liveLateSeconds: number;
  /** The number of installed models that could not be loaded. */
  readonly refused: number;
  readonly models: readonly {
    readonly name: string;
    readonly version: string;
    readonly processes: number;
    readonly ready: number;
    readonly sessions: number;
    readonly streamsMax: number;
    /** The ids of the processes of this node that are ready. */
    readonly pids: readonly number[];
  }[];
  /** The engine nodes that this node uses. */
  readonly nodes: readonly {
    /** The address in the settings. */
    readonly address: string;
    readonly connected: boolean;
    /** How often a connection to it was lost. */
    readonly losses: number;
  }[];
}

/** Live streams and engines. */
export class SpeechMetrics implements EngineRecorder {
  readonly #labels: ModelLabels;
  readonly #live: ReturnType<typeof liveFamilies>;
  readonly #engine: ReturnType<typeof engineFamilies>;
  readonly #open = new Set<OpenStream>();
  readonly #known = new Set<string>();
  readonly #use = new ProcessUse();
  readonly #node: ReturnType<typeof nodeFamilies>;
  /** The losses of each engine node at the last scrape. */
  #losses = new Map<string, number>();

  constructor(registry: MetricRegistry, labels: ModelLabels) {
    this.#labels = labels;
    this.#live = liveFamilies(registry);
    this.#engine = engineFamilies(registry);
    this.#node = nodeFamilies(registry);
  }

  beginStream(name: string): LiveRecorder {
    const model = this.#labelOf(name);
    const stream = new OpenStream(
      (how) => {
        this.#open.delete(stream);
        this.#takeAudio(stream);
        this.#live.streams.dec({ model });
        this.#live.ended.inc({ model, end: how });
      },
      { model, interim: this.#live.interim, final: this.#live.final },
    );
    this.#open.add(stream);
    this.#live.streams.inc({ model });
    return stream;
  }

  exited(name: string, reason: EngineExit): void {
    this.#engine.exits.inc({ model: this.#labelOf(name), reason });
  }

  worked(name: string, work: EngineWork): void {
    const model = this.#labelOf(name);
    for (const use of recognitionUses) {
      const { cpuSeconds, audioSeconds } = work[use];
      if (cpuSeconds > 0) this.#engine.workCpu.inc({ model, use }, cpuSeconds);
      if (audioSeconds > 0) this.#engine.workAudio.inc({ model, use }, audioSeconds);
    }
  }

  /** Brings the families up to date before a scrape. */
  async refresh(facts: EngineFacts): Promise<void> {
    const { load, liveLateSeconds, refused, models } = facts;
    this.#refreshNodes(facts.nodes);
    for (const stream of this.#open) this.#takeAudio(stream);
    this.#live.load.set(load);
    this.#live.delay.set(liveLateSeconds);
    this.#engine.refused.set(refused);
    const { processes, sessions, memory, cpu, info } = this.#engine;
    // A model that was removed has no processes any more.
    for (const family of [processes, sessions, memory, info, this.#live.max]) family.reset();
    const uses = await this.#use.measure(models.flatMap(({ pids }) => pids));
    for (const each of models) {
      const model = this.#labelOf(each.name);
      processes.inc({ model, state: "ready" }, each.ready);
      processes.inc({ model, state: "missing" }, each.processes - each.ready);
      sessions.inc({ model }, each.sessions);
      this.#live.max.inc({ model }, each.streamsMax);
      info.set({ model, version: each.version }, 1);
      memory.inc({ model }, 0);
      for (const pid of each.pids) {
        const use = uses.get(pid);
        memory.inc({ model }, use?.residentBytes ?? 0);
        cpu.inc({ model }, use?.cpuSeconds ?? 0);
      }
    }
  }

  #refreshNodes(nodes: EngineFacts["nodes"]): void {
    const { connected, losses } = this.#node;
    // A node whose address is gone has no series any more.
    connected.reset();
    const before = this.#losses;
    this.#losses = new Map(nodes.map((each) => [each.address, each.losses]));
    for (const each of nodes) {
      const node = each.address;
      connected.set({ node }, each.connected ? 1 : 0);
      losses.inc({ node }, Math.max(0, each.losses - (before.get(node) ?? 0)));
    }
  }

  #takeAudio(stream: OpenStream): void {
    this.#live.audio.inc({ model: stream.model }, stream.takeSeconds());
  }

  /** Returns the label of a model, whose series exist from then on. */
  #labelOf(name: string): string {
    const model = this.#labels.labelOf(name);
    if (this.#known.has(model)) return model;
    this.#known.add(model);
    this.#live.streams.set({ model }, 0);
    this.#live.audio.inc({ model }, 0);
    for (const end of streamEnds) this.#live.ended.inc({ model, end }, 0);
    this.#live.interim.series({ model });
    this.#live.final.series({ model });
    for (const reason of engineExits) this.#engine.exits.inc({ model, reason }, 0);
    for (const use of recognitionUses) {
      this.#engine.workCpu.inc({ model, use }, 0);
      this.#engine.workAudio.inc({ model, use }, 0);
    }
    return model;
  }
}

interface StreamFamilies {
  readonly model: string;
  readonly interim: PlainHistogram<"model">;
  readonly final: PlainHistogram<"model">;
}

/** An open stream. Its audio is added up here, since it comes in chunks of 20 ms. */
class OpenStream implements LiveRecorder {
  readonly #families: StreamFamilies;
  #onEnd: ((how: StreamEnd) => void) | undefined;
  #seconds = 0;

  constructor(onEnd: (how: StreamEnd) => void, families: StreamFamilies) {
    this.#onEnd = onEnd;
    this.#families = families;
  }

  get model(): string {
    return this.#families.model;
  }

  audio(seconds: number): void {
    this.#seconds += seconds;
  }

  takeSeconds(): number {
    const seconds = this.#seconds;
    this.#seconds = 0;
    return seconds;
  }

  interim(seconds: number): void {
    this.#families.interim.series({ model: this.model }).observe(seconds);
  }

  final(seconds: number): void {
    this.#families.final.series({ model: this.model }).observe(seconds);
  }

  end(how: StreamEnd): void {
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.(how);
  }
}

function liveFamilies(registry: MetricRegistry) {
  const streams: Gauge<"model"> = registry.gauge({
    name: "hlust_live_streams",
    help: "Open live streams with audio",
    labelNames: ["model"],
  });
  const max: Gauge<"model"> = registry.gauge({
    name: "hlust_live_streams_max",
    help: "Live streams that this node can recognize in real time, if nothing else runs",
    labelNames: ["model"],
  });
  const ended: Counter<"model" | "end"> = registry.counter({
    name: "hlust_live_streams_ended_total",
    help: "Ended live streams: complete, left by the client, refused, or failed",
    labelNames: ["model", "end"],
  });
  const audio: Counter<"model"> = registry.counter({
    name: "hlust_live_audio_seconds_total",
    help: "Seconds of audio received from live streams",
    labelNames: ["model"],
  });
  const interim = registry.histogram({
    name: "hlust_live_interim_lag_seconds",
    help: "Time from the arrival of audio to the interim result that covers it",
    labelNames: ["model"],
    buckets: lagSeconds,
  });
  const final = registry.histogram({
    name: "hlust_live_final_lag_seconds",
    help: "Time from the arrival of the audio that ends an utterance to its final result",
    labelNames: ["model"],
    buckets: lagSeconds,
  });
  const load = registry.gauge({
    name: "hlust_live_load_ratio",
    help: "Share in use of the cores that live streams may occupy; streams are refused near 1",
  });
  const delay = registry.gauge({
    name: "hlust_live_delay_seconds",
    help: "Mean time for which live audio waits in the slowest engine process",
  });
  return { streams, max, ended, audio, interim, final, load, delay };
}

function nodeFamilies(registry: MetricRegistry) {
  const connected: Gauge<"node"> = registry.gauge({
    name: "hlust_engine_node_connected",
    help: "Whether an engine node is connected",
    labelNames: ["node"],
  });
  const losses: Counter<"node"> = registry.counter({
    name: "hlust_engine_node_losses_total",
    help: "Connections to engine nodes that were lost, also when the node was stopped",
    labelNames: ["node"],
  });
  return { connected, losses };
}

function engineFamilies(registry: MetricRegistry) {
  const processes: Gauge<"model" | "state"> = registry.gauge({
    name: "hlust_engine_processes",
    help: "Engine processes, ready or missing",
    labelNames: ["model", "state"],
  });
  const sessions: Gauge<"model"> = registry.gauge({
    name: "hlust_engine_sessions",
    help: "Recognitions in engine processes",
    labelNames: ["model"],
  });
  const exits: Counter<"model" | "reason"> = registry.counter({
    name: "hlust_engine_exits_total",
    help: "Engine processes that ended and are restarted, by reason",
    labelNames: ["model", "reason"],
  });
  const workCpu: Counter<"model" | "use"> = registry.counter({
    name: "hlust_engine_work_cpu_seconds_total",
    help: "CPU seconds that engines spent on recognition, by use",
    labelNames: ["model", "use"],
  });
  const workAudio: Counter<"model" | "use"> = registry.counter({
    name: "hlust_engine_audio_seconds_total",
    help: "Seconds of audio that engines spent them on; for live streams, those with speech",
    labelNames: ["model", "use"],
  });
  const cpu: Counter<"model"> = registry.counter({
    name: "hlust_engine_process_cpu_seconds_total",
    help: "CPU seconds of all engine processes, as the system counts them",
    labelNames: ["model"],
  });
  const memory: Gauge<"model"> = registry.gauge({
    name: "hlust_engine_resident_memory_bytes",
    help: "Resident memory of engine processes",
    labelNames: ["model"],
  });
  const refused = registry.gauge({
    name: "hlust_models_refused",
    help: "Installed models that could not be loaded",
  });
  const info: Gauge<"model" | "version"> = registry.gauge({
    name: "hlust_model_info",
    help: "Models that serve, with their versions",
    labelNames: ["model", "version"],
  });
  return { processes, sessions, exits, workCpu, workAudio, cpu, memory, refused, info };
}
