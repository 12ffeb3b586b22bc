import { keep, readKept } from "../api/kept.ts";
import type { UploadPlace } from "./resumable-upload.ts";

/** A file whose upload has begun, by which it is recognized when it is chosen again. */
type FileFacts = Pick<File, "name" | "size" | "lastModified">;

/** An upload that has begun and is not a job yet, as this browser stores it. */
export interface KeptUpload {
  /** `uploads/<id>`. */
  readonly place: string;
  /** The user who sends the file, and the account (identityOf). */
  readonly owner: string;
  readonly file: FileFacts;
  /** The time of the last request, in ms since 1970. */
  readonly atMs: number;
}

const storedName = "hlust.uploads";
/** The service deletes an upload a day after its last bytes (docs/api.md, Uploads). */
const keptMsMax = 24 * 3_600_000;
const keptMax = 50;

/** Returns the unfinished uploads of a user, the last one first. */
export function keptUploads(owner: string): readonly KeptUpload[] {
  return readUploads().filter((upload) => upload.owner === owner);
}

/** Returns the place where the upload of this file can continue. */
export function keptPlace(owner: string, file: FileFacts): UploadPlace | undefined {
  const found = keptUploads(owner).find((upload) => isSameFile(upload.file, file));
  return found && { name: found.place, owner };
}

/** Stores where a file is uploaded, so that the upload can continue after the page is closed. */
export function keepUpload(owner: string, file: FileFacts, place: string): void {
  const { name, size, lastModified } = file;
  const facts = { name, size, lastModified };
  const others = readUploads().filter((upload) => upload.place !== place);
  writeUploads([{ place, owner, file: facts, atMs: Date.now() }, ...others]);
}

export function forgetUpload(place: string): void {
  writeUploads(readUploads().filter((upload) => upload.place !== place));
}

function isSameFile(one: FileFacts, other: FileFacts): boolean {
  return (
    one.name === other.name && one.size === other.size && one.lastModified === other.lastModified
  );
}

function readUploads(): readonly KeptUpload[] {
  const since = Date.now() - keptMsMax;
  return storedUploads().filter(({ atMs }) => atMs > since);
}

function storedUploads(): readonly KeptUpload[] {
  try {
    const stored: unknown = JSON.parse(readKept(storedName) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isKeptUpload) : [];
  } catch {
    return [];
  }
}

function writeUploads(uploads: readonly KeptUpload[]): void {
  const kept = uploads.slice(0, keptMax);
  keep(storedName, kept.length === 0 ? undefined : JSON.stringify(kept));
}

function isKeptUpload(value: unknown): value is KeptUpload {
  if (typeof value !== "object" || value === null) return false;
  if (!("place" in value && "owner" in value && "file" in value && "atMs" in value)) return false;
  const { place, owner, file, atMs } = value;
  if (typeof place !== "string" || typeof owner !== "string" || typeof atMs !== "number") {
    return false;
  }
  if (typeof file !== "object" || file === null) return false;
  return (
    "name" in file &&
    typeof file.name === "string" &&
    "size" in file &&
    typeof file.size === "number" &&
    "lastModified" in file &&
    typeof file.lastModified === "number"
  );
}
