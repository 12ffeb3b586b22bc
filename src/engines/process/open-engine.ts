import { parseNamedCard, readCardText } from "../../models/models-folder.ts";
import type { Engine } from "../protocol/engine.ts";
import type { EngineSource } from "../protocol/engine-source.ts";

/**
 * Loads an engine, importing only the code that it needs. Throws an Error that names the missing
 * or wrong part, with its file. `key`: the key for the server of a hosted model.
 */
export async function openEngine(source: EngineSource, key?: string): Promise<Engine> {
  const engine = await openChosen(source, key);
  if (source.voiceActivity === undefined) return engine;
  const { NetworkVoiceActivity } = await import("../../audio/network-voice-activity.ts");
  return { ...engine, createVoiceActivity: () => new NetworkVoiceActivity() };
}

async function openChosen(source: EngineSource, key?: string): Promise<Engine> {
  if (source.engine === "model") return await openModel(source, key);
  if (source.engine === "scripted") {
    const { createScriptedEngine } = await import("../scripted/scripted-engine.ts");
    return createScriptedEngine();
  }
  const { openPocketsphinx } = await import("../pocketsphinx/pocketsphinx-engine.ts");
  return await openPocketsphinx();
}

async function openModel(
  source: EngineSource & { readonly engine: "model" },
  key?: string,
): Promise<Engine> {
  const { folder } = source;
  const card = parseNamedCard(await readCardText(folder));
  if (card.engine === "hosted") {
    const { openHostedEngine } = await import("../hosted/hosted-engine.ts");
    return await openHostedEngine(card, { keyVariable: source.keyVariable, key });
  }
  if (card.engine === "ctc") {
    const { openCtcEngine } = await import("../ctc/ctc-engine.ts");
    return await openCtcEngine(card, folder, source.onnx);
  }
  const { openSherpaEngine } = await import("../sherpa-onnx/sherpa-engine.ts");
  return await openSherpaEngine(card, folder);
}
