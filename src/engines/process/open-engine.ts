import { parseNamedCard, readCardText } from "../../models/models-folder.ts";
import { NetworkVoiceActivity } from "../../audio/network-voice-activity.ts";
import type { Engine } from "../protocol/engine.ts";
import type { EngineSource } from "../protocol/engine-source.ts";

/**
 * Loads an engine, importing only the code of that engine. Throws an Error that names the missing
 * or wrong part, with its file.
 */
export async function openEngine(source: EngineSource): Promise<Engine> {
  const engine = await openChosen(source);
  if (source.voiceActivity === undefined) return engine;
  return { ...engine, createVoiceActivity: () => new NetworkVoiceActivity() };
}

async function openChosen(source: EngineSource): Promise<Engine> {
  if (source.engine === "model") return await openModel(source.folder);
  if (source.engine === "scripted") {
    const { createScriptedEngine } = await import("../scripted/scripted-engine.ts");
    return createScriptedEngine();
  }
  const { openPocketsphinx } = await import("../pocketsphinx/pocketsphinx-engine.ts");
  return await openPocketsphinx();
}

async function openModel(folder: string): Promise<Engine> {
  const card = parseNamedCard(await readCardText(folder));
  if (card.engine === "ctc") {
    const { openCtcEngine } = await import("../ctc/ctc-engine.ts");
    return await openCtcEngine(card, folder);
  }
  const { openSherpaEngine } = await import("../sherpa-onnx/sherpa-engine.ts");
  return await openSherpaEngine(card, folder);
}
