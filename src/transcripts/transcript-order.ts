import { sql } from "kysely";
import { TranscriptsOrdering_Direction as Direction } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { shown, type FieldViolation } from "../std/service-error.ts";
import { newestBy, type RowOrder } from "./row-order.ts";

/** The order of a list of transcripts. */
export interface TranscriptOrder extends RowOrder {
  /** The order as text, to which page tokens are bound. */
  readonly name: string;
}

const orderKeys = ["subject", "metadata.recording_duration", "version.creation_time"] as const;
type OrderKey = (typeof orderKeys)[number];

/** The spellings of each key that are accepted, the contract's first. */
const spellings: Readonly<Record<OrderKey, readonly string[]>> = {
  subject: ["subject", "metadata.subject"],
  "metadata.recording_duration": ["metadata.recording_duration", "metadata.recordingDuration"],
  "version.creation_time": ["version.creation_time", "version.creationTime"],
};

/**
 * Reads the ordering of a list (docs/api.md, Transcripts). Returns the violations if it is invalid.
 */
export function readOrdering(
  ordering: { readonly direction: number; readonly orderBy: string } | undefined,
): TranscriptOrder | FieldViolation[] {
  const { direction, orderBy } = ordering ?? { direction: 0, orderBy: "" };
  const violations: FieldViolation[] = [];
  if (!Object.values(Direction).some((known) => known === direction)) {
    const description = `must be DESCENDING (1) or ASCENDING (2), not ${direction}`;
    violations.push({ field: "ordering.direction", description });
  }
  const key = keyOf(orderBy);
  if (key === undefined) {
    const known = orderKeys.join(", ");
    const description = `must be one of ${known}, not ${shown(orderBy)}`;
    violations.push({ field: "ordering.orderBy", description });
  }
  if (key === undefined || violations.length > 0) return violations;
  return orderNamed(key, direction !== Direction.ASCENDING);
}

/** The order of a list without an ordering: the last changed transcripts first. */
export const defaultOrder = orderNamed("version.creation_time", true);

function orderNamed(key: OrderKey, isDescending: boolean): TranscriptOrder {
  return { name: `${key} ${isDescending ? "desc" : "asc"}`, ...orderOf(key, isDescending) };
}

function keyOf(orderBy: string): OrderKey | undefined {
  if (orderBy === "") return "version.creation_time";
  return orderKeys.find((key) => spellings[key].includes(orderBy));
}

/** The keys are those of the indexes of migration 0015. Unknown durations are last both ways. */
function orderOf(key: OrderKey, isDescending: boolean): RowOrder {
  if (key === "version.creation_time")
    return { ...newestBy("updated_at"), isDescending, field: "time" };
  if (key === "subject") {
    return { key: (alias) => sql.ref(`${alias}.subject_key`), type: "text", isDescending };
  }
  const unknown = sql.lit(isDescending ? -1 : 2_147_483_647);
  return {
    key: (alias) => sql`coalesce(${sql.ref(`${alias}.listed_ms`)}, ${unknown})`,
    type: "int",
    isDescending,
    field: "duration",
  };
}
