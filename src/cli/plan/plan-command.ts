import { availableParallelism, totalmem } from "node:os";
import { readConfig } from "../../config.ts";
import { UsageError } from "../command.ts";
import { columns } from "../models/columns.ts";
import { noPositionals } from "../models/one-name.ts";
import { writeJson } from "../operator/json-option.ts";
import { Arguments, describeOptions, type OptionTable } from "../options.ts";
import { measureModel } from "./measure-model.ts";
import {
  type ClusterPlan,
  gibibytes,
  type ModelFigures,
  planCluster,
  type PlannedMachine,
  type PlannedWork,
} from "./plan-cluster.ts";

const gibibyte = 1 << 30;

const options = {
  streams: { hint: "N", meaning: "live streams at a time", fallback: "0" },
  "hours-per-day": { hint: "M", meaning: "hours of recordings a day", fallback: "0" },
  model: { hint: "NAME", meaning: "an installed model, which is loaded and measured" },
  cores: { hint: "N", meaning: "cores of a machine; default: this one's" },
  memory: { hint: "GIB", meaning: "memory of a machine in GiB; default: this one's" },
  "speech-share": {
    hint: "SHARE",
    meaning: "how much of a live stream is speech; 0.5 for one side of a telephone call",
    fallback: "1",
  },
  "busy-hours": {
    hint: "HOURS",
    meaning: "hours of a day within which the recordings have to be done",
    fallback: "24",
  },
  headroom: { hint: "PERCENT", meaning: "what is left free of each core", fallback: "30" },
  json: { meaning: "print JSON" },
  help: { meaning: "show this" },
} as const satisfies OptionTable;

const usage = `Usage: hlust plan --streams N --hours-per-day M --model NAME [options]

Computes the machines for live streams and recordings: recognition as measured now on this machine,
with the model, and the rest from published figures. docs/cluster.md describes the parts.

${describeOptions(options)}
--speech-share is 1 by default since the streams of an event speak at the same time; a stream is
refused rather than late when there is no room.
`;

/** Runs `hlust plan`. Resolves to the exit code. */
export async function planMachines(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  if (args.some((each) => /^(-h|--help)$/.test(each))) {
    process.stdout.write(usage);
    return 0;
  }
  const { work, machine, modelName, isJson } = readArguments(args);
  const { engine, modelsFolder } = readConfig(environment);
  const model = await measureModel(modelName, { engine, modelsFolder });
  const planned = planCluster(work, model, machine);
  if (isJson) writeJson({ work, machine, model, plan: planned });
  else process.stdout.write(planText(planned, { model, machine }));
  return 0;
}

function readArguments(args: readonly string[]) {
  try {
    const read = new Arguments(options, args);
    noPositionals(read.positionals);
    const given = (name: "cores" | "memory", max: number, own: number) =>
      read.text(name) === undefined
        ? own
        : read.number(name, { min: name === "cores" ? 1 : 0.5, max, whole: name === "cores" });
    const work: PlannedWork = {
      streams: read.number("streams", { min: 0, max: 1_000_000, whole: true }),
      hoursPerDay: read.number("hours-per-day", { min: 0, max: 1_000_000 }),
      speechShare: read.number("speech-share", { min: 0, max: 1 }),
      busyHours: read.number("busy-hours", { min: 0.1, max: 24 }),
    };
    const machine: PlannedMachine = {
      cores: given("cores", 1024, availableParallelism()),
      memoryBytes: given("memory", 65_536, totalmem() / gibibyte) * gibibyte,
      headroom: read.number("headroom", { min: 0, max: 90 }) / 100,
    };
    const modelName = read.text("model");
    if (modelName === undefined || modelName === "") {
      throw new UsageError("--model is required: `hlust models list` has the names");
    }
    if (work.streams === 0 && work.hoursPerDay === 0) {
      throw new UsageError("--streams or --hours-per-day is required: a number above 0");
    }
    return { work, machine, modelName, isJson: read.has("json") };
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usage) : error;
  }
}

/** Returns a plan as text: what was measured, a table of the parts, and what limits first. */
function planText(
  plan: ClusterPlan,
  { model, machine }: { readonly model: ModelFigures; readonly machine: PlannedMachine },
): string {
  const rows = plan.parts.map(({ name, processes, cores, memoryBytes }) => [
    name,
    String(processes),
    cores.toFixed(2),
    `${gibibytes(memoryBytes)} GiB`,
  ]);
  const all = ["all", "", plan.cores.toFixed(2), `${gibibytes(plan.memoryBytes)} GiB`];
  const { what, share } = plan.limit;
  return [
    `${figuresLine(model)}\n\n`,
    columns([["PART", "PROCESSES", "CORES", "MEMORY"], ...rows, all]),
    `\n${machinesLine(plan, machine)}\n${streamsLine(plan)}`,
    `limits first: ${what} (${Math.round(100 * share)} % of the plan in use, ${Math.round(100 * machine.headroom)} % headroom included)\n`,
  ].join("");
}

function figuresLine({ name, live, job, processBytes }: ModelFigures): string {
  const ms = (seconds: number) => `${(1000 * seconds).toFixed(1)} ms`;
  const figures = [
    ...(live
      ? [`${ms(live.speech)} of CPU a second of live speech, ${ms(live.silence)} of silence`]
      : []),
    ...(job === undefined ? [] : [`${ms(job)} a second of a recording`]),
    `${gibibytes(processBytes)} GiB a process`,
  ];
  return `${name} on this machine: ${figures.join("; ")}`;
}

function machinesLine({ machines, engineNodes }: ClusterPlan, machine: PlannedMachine): string {
  const size = `of ${machine.cores} cores and ${gibibytes(machine.memoryBytes)} GiB`;
  if (engineNodes === 0) return `machines: 1 ${size}, with role all`;
  return `machines: ${machines} ${size}, of which ${engineNodes} engine nodes`;
}

function streamsLine({ streamsMax }: ClusterPlan): string {
  const { engineProcess, frontEnd } = streamsMax;
  if (engineProcess === 0) return "";
  return `live streams: at most ${engineProcess} an engine process, ${frontEnd} a front end\n`;
}
