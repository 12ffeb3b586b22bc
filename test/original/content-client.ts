import type { Message, OriginalClient } from "./original-client.ts";

/** Content that is written, and the part of it. */
export interface WrittenContent {
  readonly of: Buffer;
  readonly from?: number;
  readonly to?: number;
  /** Whether the last message finishes the content; by default it does. */
  readonly finish?: boolean;
}

const pieceBytes = 20_000;

/** Returns the messages that write a part of content, in pieces. */
export function writeMessages(
  blob: string,
  { of, from = 0, to = of.length, finish = true }: WrittenContent,
): Message[] {
  const messages = [];
  for (let at = from; at < to; at += pieceBytes) {
    const data = of.subarray(at, Math.min(to, at + pieceBytes));
    const isLast = at + pieceBytes >= to;
    messages.push({
      resource_name: at === from ? blob : "",
      write_offset: at,
      finish_write: finish && isLast,
      data,
    });
  }
  return messages;
}

/** Sends the messages of one write to a client of google.bytestream.ByteStream. */
export async function writeContent(
  client: OriginalClient,
  messages: readonly object[],
): Promise<Message> {
  const { call, answer } = client.send("Write");
  for (const message of messages) call.write(message);
  call.end();
  return await answer;
}

/** Reads content, or the part in this range. */
export async function readContent(
  client: OriginalClient,
  blob: string,
  range: object = {},
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const { data } of client.stream("Read", { resource_name: blob, ...range })) {
    pieces.push(data);
  }
  return Buffer.concat(pieces);
}

/** Returns the number of stored bytes of content, and whether it is complete. */
export async function statusOf(client: OriginalClient, blob: string): Promise<[number, boolean]> {
  const request = { resource_name: blob };
  const { committed_size: size, complete } = await client.call("QueryWriteStatus", request);
  return [size, complete];
}
