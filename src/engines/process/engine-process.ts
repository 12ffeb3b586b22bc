// The program of an engine process: loads one model and recognizes speech for the sessions of the
// service.
import type { EngineSource } from "../protocol/engine-source.ts";
import { EngineHost } from "./engine-host.ts";
import { measureSpeech, recognizeOnce } from "./measure-speech.ts";
import { openEngine } from "./open-engine.ts";
import { runProcess } from "./run-process.ts";

/** The CPU seconds for a second of speech at a server elsewhere, until they are measured. */
const hostedCpuPerSpeech = 0.002;

await runProcess(async (text, writer) => {
  const source: EngineSource = JSON.parse(text);
  const engine = await openEngine(source, process.env["MODEL_KEY"]);
  const { server } = engine;
  const mustRecognize = source.engine === "model" && source.mustRecognize === true;
  for (const mode of mustRecognize ? (server?.uses ?? []) : []) await recognizeOnce(engine, mode);
  // An engine that cannot decode is reported as an engine that cannot be loaded. A server is
  // elsewhere, and may be absent now.
  const cpuPerSpeech = server ? hostedCpuPerSpeech : await measureSpeech(engine);
  return new EngineHost(engine, { cpuPerSpeech, writer });
});
