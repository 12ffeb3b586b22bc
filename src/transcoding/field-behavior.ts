import { type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { field_behavior, FieldBehavior } from "../gen/google/api/field_behavior_pb.ts";

/** Whether google.api.field_behavior says that callers have to set the field. */
export function isRequired(field: DescField): boolean {
  return behaviorsOf(field).has(FieldBehavior.REQUIRED);
}

/** Whether google.api.field_behavior says that only the service sets the field. */
export function isOutputOnly(field: DescField): boolean {
  return behaviorsOf(field).has(FieldBehavior.OUTPUT_ONLY);
}

/** getOption() decodes the option at each call. */
const known = new WeakMap<DescField, ReadonlySet<FieldBehavior>>();

function behaviorsOf(field: DescField): ReadonlySet<FieldBehavior> {
  const found = known.get(field);
  if (found) return found;
  const behaviors = new Set(
    hasOption(field, field_behavior) ? getOption(field, field_behavior) : [],
  );
  known.set(field, behaviors);
  return behaviors;
}
