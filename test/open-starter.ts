import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openCtcEngine } from "../src/engines/ctc/ctc-engine.ts";
import type { Engine } from "../src/engines/engine.ts";
import { type ModelCard, parseModelCard } from "../src/engines/models/model-card.ts";

/** The is-IS starter models: of streams, and the same of whole recordings. */
export const starterFolders = {
  streaming: fileURLToPath(new URL("../models/is-IS-starter", import.meta.url)),
  whole: fileURLToPath(new URL("models/is-IS-whole", import.meta.url)),
} as const;
export type Starter = keyof typeof starterFolders;

export function starterCard(starter: Starter): ModelCard {
  return parseModelCard(readFileSync(`${starterFolders[starter]}/model.json`, "utf8"));
}

export function openStarter(starter: Starter): Promise<Engine> {
  return openCtcEngine(starterCard(starter), starterFolders[starter]);
}
