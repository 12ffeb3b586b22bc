import { create } from "@bufbuild/protobuf";
import {
  ModelTaskKind,
  ModelTaskSchema,
  ModelTaskState,
  type ModelTask,
} from "../gen/hlust/operator/v1/operator_pb.ts";
import type { StoredModelTask } from "../nodes/model-task-store.ts";
import { timestampFromDate } from "../std/duration.ts";

/** Returns a task as the API shows it. */
export function modelTaskMessage(row: StoredModelTask): ModelTask {
  return create(ModelTaskSchema, {
    name: `modelTasks/${row.id}`,
    kind: ModelTaskKind[row.kind],
    model: row.model,
    modelsFolder: row.folder_id,
    host: row.host,
    state: ModelTaskState[row.state],
    phase: row.phase,
    receivedBytes: BigInt(row.received_bytes),
    totalBytes: BigInt(row.total_bytes),
    failure: row.failure,
    ...(row.result && {
      testResult: {
        text: row.result.text,
        audioSeconds: row.result.audioSeconds,
        tookSeconds: row.result.tookMs / 1000,
      },
    }),
    creationTime: timestampFromDate(row.created_at),
    ...(row.ended_at && { endTime: timestampFromDate(row.ended_at) }),
  });
}
