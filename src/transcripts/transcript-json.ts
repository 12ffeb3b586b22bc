import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { toJson } from "@bufbuild/protobuf";
import {
  TranscriptMetadataSchema,
  VersionSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { transcriptMessage, type MediaLinks } from "./transcript-message.ts";
import type { StoredTranscript } from "./transcript-store.ts";

const decompress = promisify(zstdDecompress);

/**
 * Returns the JSON of a transcript as GetTranscript sends it (§4.4), in UTF-8. The segments are
 * already stored in this form.
 */
export async function transcriptJson(
  stored: StoredTranscript,
  links: MediaLinks,
): Promise<Uint8Array<ArrayBuffer>> {
  const { jsonZstd, jsonBytes } = stored.segments;
  const segments = await decompress(jsonZstd, { maxOutputLength: Math.max(jsonBytes, 1) });
  const { name, metadata, uri, version } = transcriptMessage(stored, links, []);
  const shown = { alwaysEmitImplicit: true };
  const facts = metadata ? toJson(TranscriptMetadataSchema, metadata, shown) : null;
  const isObject = typeof facts === "object" && !Array.isArray(facts);
  const all = isObject ? { recordingDuration: null, ...facts } : facts;
  const head = JSON.stringify({ name, metadata: all }).slice(0, -1);
  const tail = JSON.stringify({ uri, version: version && toJson(VersionSchema, version, shown) });
  const { buffer, byteOffset, length } = Buffer.concat([
    Buffer.from(`${head},"segments":`),
    segments,
    Buffer.from(`,${tail.slice(1)}`),
  ]);
  return new Uint8Array(buffer, byteOffset, length);
}
