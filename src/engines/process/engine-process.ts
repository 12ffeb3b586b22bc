// The program of an engine process: loads one model and recognizes speech for the sessions of the
// service.
import { EngineHost } from "./engine-host.ts";
import { measureSpeech } from "./measure-speech.ts";
import { openEngine } from "./open-engine.ts";
import { runProcess } from "./run-process.ts";

await runProcess(async (source, writer) => {
  const engine = await openEngine(JSON.parse(source));
  // An engine that cannot decode is reported as an engine that cannot be loaded.
  const cpuPerSpeech = await measureSpeech(engine);
  return new EngineHost(engine, { cpuPerSpeech, writer });
});
