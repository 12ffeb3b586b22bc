import type { ColumnType, Generated } from "kysely";
import type { Instant, Whole } from "./column-types.ts";

/** A recording in the media store. A row is written after its bytes are durable. */
export interface MediaTable {
  id: string;
  account_id: string;
  size_bytes: Whole;
  /**
   * The hash; null until it is known, because media that was put into a store without the service
   * has not been read yet.
   */
  sha256: Buffer | null;
  /** The type as detected from the bytes: audio/..., video/... or application/octet-stream. */
  content_type: string;
  created_at: Instant;
  /**
   * The duration of the first audio stream; null if there is none, or until the media is described.
   */
  duration_ms: number | null;
  /** The type of its streams. */
  file_type: "AUDIO" | "VIDEO" | null;
  /** The number of pixels of the entire waveform, once it is complete. */
  peaks_count: number | null;
  /** The time at which the description was completed or failed. */
  described_at: Date | null;
  /** The reason (ErrorInfo) why the media could not be described. */
  problem: string | null;
  /** The name of the file, if it was uploaded to a transcript; "" if it is unknown. */
  file_name: Generated<string>;
}

/** A part of a waveform, stored as a checkpoint in case its worker dies. */
export interface MediaPeaksTable {
  media_id: string;
  /** The number of the part: 0, 1, 2, ... */
  number: number;
  /** Pairs of signed bytes: the minimum and maximum sample of each pixel. */
  peaks: Buffer;
}

/** The outputs of a model for a part of media, to align words. They contain what was said. */
export interface MediaOutputsTable {
  media_id: string;
  /** The number of the part: 0, 1, 2, ... */
  number: number;
  start_ms: number;
  end_ms: number;
  /** The name of the model, which changes with its files. */
  model: string;
  /** The utterances, in the format of src/engines/protocol/kept-outputs.ts. */
  outputs: Buffer;
  /** The hash of the outputs. */
  sha256: Buffer;
}

/** Media that waits to be described, or is being described; deleted with the media. */
export interface MediaDescriptionTable {
  media_id: string;
  /** The number of the latest lease: a worker with an earlier lease changes nothing. */
  lease: Generated<number>;
  /** The number of attempts that have begun, excluding those that were forgiven. */
  tries: Generated<number>;
  /** The time from which a worker may lease the row: the end of the lease, if there is one. */
  due_at: Instant;
}

/** A backup that is being made: until `held_until`, no bytes of media are deleted. */
export interface MediaHoldTable {
  id: string;
  held_until: Date;
}

/** Media whose record was deleted during a hold. Its bytes are deleted when no hold is left. */
export interface DeferredDeletionTable {
  media_id: string;
  deferred_at: Instant;
}

/** The destination of one PUT, or of bytes that arrive in several calls. */
export interface UploadTable {
  id: string;
  account_id: string;
  /** The transcript that receives the media; null for uploads/<id>. */
  transcript_id: string | null;
  /** The name of the file, as the caller sent it; "" if it is unknown. */
  file_name: Generated<string>;
  expires_at: Date;
  created_at: Instant;
  /** The media; set when all bytes are stored. */
  media_id: string | null;
  /** The size of the whole media, of a resumable upload; null for a PUT. */
  size_bytes: ColumnType<string | null, number | undefined, number>;
  /** The number of bytes of a resumable upload that are durable. */
  received_bytes: ColumnType<string, number | undefined, number>;
  /** The metadata of a resumable upload, as its client sent it. */
  client_metadata: Generated<string>;
  /** The latest call that wants to write bytes; see holdUpload(). */
  writer: Generated<string | null>;
  /** The call that may write bytes until `held_until`. */
  holder: Generated<string | null>;
  held_until: Generated<Date | null>;
}
