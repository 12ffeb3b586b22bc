import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinModelsFolder } from "../../models/models-folder.ts";
import { createLog } from "../../std/log.ts";
import { espeak, joined, noise, silence } from "../../../test/fixtures/flite.ts";
import { openEnginePool } from "./engine-pool.ts";

/** Returns a voice in noise of the same power, which energy does not find. */
function voiceInNoise(): Int16Array {
  const voice = joined(silence(1500), espeak("veðrið er gott í dag"), silence(1500));
  const room = noise(voice.length / 16, 3500);
  return voice.map((sample, at) => Math.max(-32_768, Math.min(32_767, sample + (room[at] ?? 0))));
}

test("the pool's processes use the detector of voice activity that the operator chose", async () => {
  const samples = voiceInNoise();
  const utterances = { network: 0, energy: 0, default: 0 };
  for (const choice of ["network", "energy", "default"] as const) {
    await using pool = await openEnginePool({
      engine: "auto",
      only: "is-IS-starter",
      ...(choice !== "default" && { voiceActivity: choice }),
      processes: 1,
      modelsFolder: builtinModelsFolder,
      log: createLog("fatal"),
    });
    const options = { languageCode: "is-IS", mode: "short", sampleRateHertz: 16_000 } as const;
    for await (const { isFinal } of pool.recognize([samples], options)) {
      if (isFinal) utterances[choice] += 1;
    }
  }
  assert.deepEqual(utterances, { network: 1, energy: 0, default: 1 });
});
