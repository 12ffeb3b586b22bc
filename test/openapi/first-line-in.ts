/** Returns the first line of a response that does not end by itself. */
export async function firstLineIn({ body }: Response): Promise<string> {
  let text = "";
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return text.split("\n")[0] ?? "";
}
