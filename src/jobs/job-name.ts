import { idIn } from "../std/ids.ts";
import { ServiceError, shown } from "../std/service-error.ts";

/**
 * Returns the id in transcriptjob/<id>. Throws if the name is malformed, since no such job exists.
 */
export function jobIdIn(name: string): string {
  const id = idIn("transcriptjob", name);
  if (id === undefined) throw jobNotFound(name);
  return id;
}

/**
 * Returns the error for a job that does not exist or belongs to another account (docs/api.md,
 * Errors).
 */
export function jobNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no job ${shown(name)}`, {
    reason: "JOB_NOT_FOUND",
  });
}
