import { UsageError } from "../cli/command.ts";
import type { HlustClient } from "../client/hlust-client.ts";
import type { Model_Use as Use } from "../gen/hlust/speech/v2beta1/speech_pb.ts";

/**
 * Returns the language that was chosen, or the only one for which the service has a model of this
 * use. Throws UsageError, which names the languages to choose from.
 */
export async function chosenLanguage(
  hlust: HlustClient,
  chosen: string | undefined,
  use: Use,
): Promise<string> {
  if (chosen !== undefined) return chosen;
  const { models } = await hlust.speech.listModels({});
  const codes = models.filter(({ uses }) => uses.includes(use)).flatMap((one) => one.languageCodes);
  const languages = [...new Set(codes)].toSorted();
  const [only] = languages;
  if (only !== undefined && languages.length === 1) return only;
  if (only === undefined) throw new Error("the service has no model for this");
  throw new UsageError(`which language? Choose one: --language ${languages.join(", --language ")}`);
}
