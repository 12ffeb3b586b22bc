/**
 * Yields the lines of newline-delimited text as they arrive, without line ends and empty lines.
 * Leaving the loop cancels the body.
 */
export async function* readLines(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string, void> {
  const reader = body.pipeThrough(new TextDecoderStream("utf-8", { fatal: true })).getReader();
  let waiting: string[] = [];
  try {
    for (;;) {
      const { done, value = "" } = await reader.read();
      const [first = "", ...others] = value.split("\n");
      waiting.push(first);
      for (const next of others) {
        const line = waiting.join("");
        waiting = [next];
        if (line.trim() !== "") yield line;
      }
      if (!done) continue;
      const last = waiting.join("");
      if (last.trim() !== "") yield last;
      return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
