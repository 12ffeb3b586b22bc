// Does the minimum work for a GET of a transcript: reads the stored bytes with the bare driver,
// decompresses them and sends them.
//
// `node bare-get.ts <folder of the database's socket> <transcript id>` prints the port of the
// server.
import { createServer } from "node:http";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import pg from "pg";

const [host = "", id = ""] = process.argv.slice(2);
const decompress = promisify(zstdDecompress);
const pool = new pg.Pool({ host, user: "hlust", database: "postgres" });
const stored = {
  name: "stored",
  text: "select json_zstd, json_bytes from transcript_segments where transcript_id = $1",
};

const server = createServer((_, response) => {
  void answer().then((json) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": json.length });
    response.end(json);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) console.log(address.port);
});

async function answer(): Promise<Buffer> {
  const { rows } = await pool.query<{ json_zstd: Buffer; json_bytes: number }>(stored, [id]);
  const [{ json_zstd: zstd, json_bytes: bytes } = { json_zstd: "", json_bytes: 0 }] = rows;
  // The output is one chunk: in chunks of 16 kB, zlib's default, decompression takes half as long
  // again.
  return await decompress(zstd, { chunkSize: bytes + 1 });
}
