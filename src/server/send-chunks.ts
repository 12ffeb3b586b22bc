import { Http2ServerResponse } from "node:http2";
import { Readable } from "node:stream";
import { isClosed, type HttpResponse } from "./http.ts";

/**
 * Sends a body and ends the answer. Each chunk was written before the next one is read. Throws if
 * the client disconnects, even while the stream hangs, which is then destroyed.
 */
export async function sendChunks(
  response: HttpResponse,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  let giveUp = (_reason: Error): void => {};
  const onClose = () => {
    const gone = new Error("the client closed the request");
    giveUp(gone);
    // A store that hangs yields no further chunk, so the loop below would not notice the
    // disconnection.
    if (chunks instanceof Readable) chunks.destroy(gone);
  };
  response.once("close", onClose);
  if (isClosed(response)) onClose();
  try {
    for await (const chunk of chunks) {
      if (isClosed(response)) throw new Error("the client closed the request");
      await new Promise<void>((resolve, reject) => {
        giveUp = reject;
        const onWritten = (error?: Error | null) => {
          if (error) reject(error);
          else resolve();
        };
        // One line for each version: the types of Node have no common signature.
        if (response instanceof Http2ServerResponse) response.write(chunk, onWritten);
        else response.write(chunk, onWritten);
      });
    }
    response.end();
  } finally {
    response.off("close", onClose);
  }
}
