import { Http2ServerResponse } from "node:http2";
import { Readable } from "node:stream";
import { isClosed, type HttpResponse } from "./http.ts";

/**
 * Sends a body and ends the response. Each chunk is written before the next one is read. If the
 * client disconnects, throws and destroys the stream, even while the stream hangs.
 */
export async function sendChunks(
  response: HttpResponse,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  let giveUp = (_reason: Error): void => {};
  const onClose = () => {
    const gone = new Error("the client closed the request");
    giveUp(gone);
    // A store that hangs yields no more chunks, so the loop below would not notice that the client
    // has disconnected.
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
        // Each HTTP version has its own line because Node's types have no common signature.
        if (response instanceof Http2ServerResponse) response.write(chunk, onWritten);
        else response.write(chunk, onWritten);
      });
    }
    response.end();
  } finally {
    response.off("close", onClose);
  }
}
