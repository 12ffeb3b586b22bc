import { StringDecoder } from "node:string_decoder";

/** Splits text into its lines, without their ends. An error of the source is thrown. */
export async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of source) {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  rest += decoder.end();
  if (rest !== "") yield rest;
}
