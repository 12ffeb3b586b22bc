import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { UsageError } from "../command.ts";

/** Media that is served at URLs until this object is disposed of. */
export interface ServedMedia extends AsyncDisposable {
  readonly urls: readonly string[];
}

/**
 * Resolves to a URL for each item of media: URLs stay unchanged, and files get a URL of a server at
 * `host`. Throws UsageError for a missing file.
 */
export async function serveFiles(media: readonly string[], host: string): Promise<ServedMedia> {
  const isUrl = (text: string) => /^https?:\/\//i.test(text);
  const sizes = await Promise.all(
    media.map(async (path) => (isUrl(path) ? 0 : await sizeOf(path))),
  );
  const server = createServer((request, response) => {
    const index = Number(request.url?.slice(1));
    const path = media[index];
    if (path === undefined || isUrl(path)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-length": sizes[index] ?? 0 });
    // A client that disconnects is not an error.
    createReadStream(path)
      .on("error", () => response.destroy())
      .pipe(response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, host, resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const place = host.includes(":") ? `[${host}]` : host;
  return {
    urls: media.map((path, index) => (isUrl(path) ? path : `http://${place}:${port}/${index}`)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
