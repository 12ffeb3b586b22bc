import { join } from "node:path";
import type { Decoder, Hypothesis } from "../src/engines/engine.ts";
import type { ModelCard } from "../src/engines/models/model-card.ts";
import { espeak } from "./flite.ts";

const root = join(import.meta.dirname, "..");
export const starterFolder = join(root, "models/is-IS-starter");
export const testModelsFolder = join(root, "test/models");

/** A card of an Icelandic model of sherpa-onnx, with what is different about it. */
export function sherpaCard(different: Partial<ModelCard>): ModelCard {
  return {
    name: "is-IS-test",
    version: "1",
    languageCodes: ["is-IS"],
    engine: "sherpa-onnx",
    kind: "streaming-nemo-ctc",
    uses: ["live", "short", "job"],
    preference: 0,
    sampleRateHertz: 16_000,
    files: { model: { path: "model.onnx" }, tokens: { path: "tokens.txt" } },
    options: {},
    licence: "Apache-2.0",
    source: "made here",
    trainedOn: "speech of espeak-ng",
    accuracy: [],
    ...different,
  };
}

/** Our streaming model, of the layout that NeMo's have. */
export const streamingCard = sherpaCard({ name: "is-IS-starter" });

/** The same network, hearing whole utterances, of the layout of a zipformer with CTC. */
export const wholeCard = sherpaCard({
  name: "is-IS-whole",
  kind: "zipformer-ctc",
  files: {
    model: { path: "test/models/is-IS-whole/model.onnx" },
    tokens: { path: "models/is-IS-starter/tokens.txt" },
  },
});
/** Its files lie in two folders below this one. */
export const wholeFolder = root;

/** The streaming one as a transducer: it tells how sure it is. */
export const transducerCard = sherpaCard({
  name: "is-IS-transducer",
  kind: "streaming-transducer",
  files: {
    encoder: { path: "encoder.onnx" },
    decoder: { path: "decoder.onnx" },
    joiner: { path: "joiner.onnx" },
    tokens: { path: "tokens.txt" },
  },
});
export const transducerFolder = join(testModelsFolder, "is-IS-transducer");

/** The one that hears whole utterances as a transducer. */
export const wholeTransducerCard: ModelCard = {
  ...transducerCard,
  name: "is-IS-whole-transducer",
  kind: "transducer",
};
export const wholeTransducerFolder = join(testModelsFolder, "is-IS-whole-transducer");

/** What the conformance suite says to an Icelandic model. */
export function sayIcelandic() {
  return { spoken: espeak("veðrið er gott í dag"), other: espeak("góðan daginn") };
}

export const icelandicHeard = /^veðrið er gott í dag$/;

/** What a decoder hears in these samples, given in chunks of 100 ms. */
export async function hear(decoder: Decoder, samples: Int16Array): Promise<readonly Hypothesis[]> {
  decoder.begin();
  for (let at = 0; at < samples.length; at += 1600) {
    decoder.accept(samples.subarray(at, at + 1600));
    for (let work = decoder.work(); work !== false; work = decoder.work()) await work;
  }
  return drain(decoder);
}

/** The readings of an utterance that ends now. */
export async function drain(decoder: Decoder): Promise<readonly Hypothesis[]> {
  const ending = decoder.end();
  let slice = ending.next();
  for (; !slice.done; slice = ending.next()) await slice.value;
  return slice.value;
}
