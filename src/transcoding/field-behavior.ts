import { type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { field_behavior, FieldBehavior } from "../gen/google/api/field_behavior_pb.ts";

/** Whether callers must set the field, according to google.api.field_behavior. */
export function isRequired(field: DescField): boolean {
  return behaviorsOf(field).has(FieldBehavior.REQUIRED);
}

/** Whether only the service sets the field, according to google.api.field_behavior. */
export function isOutputOnly(field: DescField): boolean {
  return behaviorsOf(field).has(FieldBehavior.OUTPUT_ONLY);
}

/** The behaviors are cached because getOption() decodes the option on each call. */
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
