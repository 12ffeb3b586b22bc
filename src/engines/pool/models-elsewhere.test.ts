import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "../../std/log.ts";
import { NodeLink } from "../nodes/node-link.ts";
import { EngineChild } from "./engine-child.ts";
import type { LoadableModel } from "./loadable-models.ts";
import { thisMachine } from "./machine.ts";
import { ModelProcesses } from "./model-processes.ts";
import { ModelsElsewhere } from "./models-elsewhere.ts";

const log = createLog("silent");
const languageCodes = ["fo-FO"];
const machine = thisMachine(() => []);
const model: LoadableModel = {
  name: "hosted",
  version: "1",
  languageCodes,
  uses: ["live"],
  preference: 50,
  source: { engine: "elsewhere", diarizes: false },
  bytes: 0,
  identity: "hosted 1",
};

test("a hosted model of an engine node is kept while its server is absent, until its process ends", async (t) => {
  const models = new ModelsElsewhere({
    ownModel: () => undefined,
    create: (created) =>
      new ModelProcesses({
        model: created,
        processes: 1,
        waitsFor: 1,
        log,
        stuckMsMax: 10_000,
        ready: { notify() {} },
        machine,
      }),
  });
  const link = new NodeLink({ send() {}, onStuck() {} });
  t.after(() => link.end());
  const engine = { name: "hosted-vosk", languageCodes, takesHints: false, alignsWords: false };
  const absence = { kind: "UNREACHABLE", reason: "it does not answer", absentMs: 0 } as const;
  const child = new EngineChild(
    link,
    { engine, cpuPerSpeech: 0.001, absence },
    { model: model.name, log, machine, stuckMsMax: 10_000, onLoad() {} },
  );
  models.add(child, model);
  const serving = () => models.serving.map((each) => [each.model.name, each.absence?.kind]);
  for (const hours of [0, 1, 2]) models.forgetAbsent(true, hours * 3_600_000);
  assert.deepEqual(serving(), [["hosted", "UNREACHABLE"]]);
  link.close({ how: "closed", isOfProcess: true });
  await child.exited;
  models.forgetAbsent(false, 4 * 3_600_000);
  assert.deepEqual(serving(), [["hosted", undefined]]);
  for (const hours of [5, 6]) models.forgetAbsent(true, hours * 3_600_000);
  assert.deepEqual(serving(), []);
});
