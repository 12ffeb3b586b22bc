import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";

/**
 * Asks a question and returns whether the answer is yes: an empty line, `y` or `yes`. The end of
 * the input means no.
 */
export async function confirm(
  question: string,
  { input, output }: { readonly input: Readable; readonly output: Writable },
): Promise<boolean> {
  const lines = createInterface({ input, output });
  try {
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("no")));
    const answer = await Promise.race([lines.question(`${question} [Y/n] `), ended]);
    return /^\s*(y|yes)?\s*$/i.test(answer);
  } finally {
    lines.close();
  }
}
