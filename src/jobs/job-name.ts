import { idIn } from "../std/ids.ts";
import { ServiceError, shown } from "../std/service-error.ts";

/** The id in transcriptjob/<id>; there is no job with a malformed name. */
export function jobIdIn(name: string): string {
  const id = idIn("transcriptjob", name);
  if (id === undefined) throw jobNotFound(name);
  return id;
}

/** docs/api.md, Errors: a job of another account is answered like one that does not exist. */
export function jobNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no job ${shown(name)}`, {
    reason: "JOB_NOT_FOUND",
  });
}
