import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecognitionMode } from "../protocol/engine.ts";
import type { Machine } from "./machine.ts";
import { ModelAdmission, type PlacedProcess } from "./model-admission.ts";

class TestProcess implements PlacedProcess {
  readonly machine: Machine;
  readonly cpuPerSpeech: number;
  readonly demands: number[] = [];
  seconds: Record<RecognitionMode, number> = { live: 0, short: 0, job: 0 };
  readonly fullDemand = 0;
  isResponsive = true;
  isLeaving = false;
  readonly liveLateMs = 0;

  constructor(machine: Machine, cpuPerSpeech: number) {
    this.machine = machine;
    this.cpuPerSpeech = cpuPerSpeech;
  }

  get sessions(): number {
    return this.demands.length;
  }

  get liveDemand(): number {
    return this.demands.reduce((sum, demand) => sum + demand, 0);
  }

  uncommittedSeconds(modes: readonly RecognitionMode[]): number {
    return modes.reduce((sum, mode) => sum + this.seconds[mode], 0);
  }
}

/** Returns a machine with this many cores and processes, where speech costs `cpuPerSpeech`. */
function machineOf(cores: number, cpuPerSpeech: number): readonly TestProcess[] {
  const own: TestProcess[] = [];
  const machine = { cores, processes: () => own };
  own.push(...Array.from({ length: cores }, () => new TestProcess(machine, cpuPerSpeech)));
  return own;
}

const nowhere: Machine = { cores: 2, processes: () => [] };

function place(admission: ModelAdmission, processes: readonly TestProcess[]) {
  const process = admission.admit("live", processes);
  process?.demands.push(admission.demandOn(process));
  return process;
}

const loadOf = (own: readonly TestProcess[]) =>
  own.reduce((sum, { liveDemand }) => sum + liveDemand, 0) / own.length;

test("live streams are spread over unequal machines by the load of their cores", () => {
  const machines = [machineOf(2, 0.02), machineOf(4, 0.02), machineOf(2, 0.05), machineOf(8, 0.01)];
  const all = machines.flat();
  const admission = new ModelAdmission(nowhere, 0.1);
  for (let count = 0; count < 300; count += 1) place(admission, all);
  const loads = machines.map(loadOf);
  const [least, most] = [Math.min(...loads), Math.max(...loads)];
  assert.ok(most - least < 0.15 * most, loads.join());
  assert.ok(machines.every((own) => own.every(({ sessions }) => sessions > 0)));
});

test("streams are admitted while any machine has room, and refused when none has", () => {
  const [small, large] = [machineOf(1, 0.2), machineOf(2, 0.2)];
  const admission = new ModelAdmission(nowhere, 0.2);
  let count = 0;
  while (count < 100) {
    try {
      place(admission, [...small, ...large]);
    } catch (error) {
      assert.match(String(error), /no more live streams/);
      break;
    }
    count += 1;
  }
  assert.equal(count, 12, "four on each core");
  assert.equal(admission.streamsMax([...small, ...large]), 12);
});

test("a process that is leaving, or has others to wait for, is chosen last or never", () => {
  const [first, second] = [machineOf(1, 0.1), machineOf(1, 0.1)];
  const all = [...first, ...second];
  const [one, two] = [all[0] ?? assert.fail(), all[1] ?? assert.fail()];
  const admission = new ModelAdmission(nowhere, 0.1);
  one.isLeaving = true;
  assert.equal(admission.choose("live", all), two);
  assert.equal(admission.choose("live", [one]), undefined);
  one.isLeaving = false;
  two.seconds.job = 100;
  assert.equal(admission.choose("job", all), one);
  one.isResponsive = false;
  assert.equal(admission.choose("job", all), two, "a process that does not respond");
  assert.equal(admission.choose("live", all), two);
});
