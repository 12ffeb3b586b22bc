import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LimitsSchema } from "../../src/gen/hlust/api/annotations_pb.ts";
import {
  ListManagedAccountsRequestSchema,
  ListModelTasksRequestSchema,
  OwnLimitsSchema,
} from "../../src/gen/hlust/operator/v1/operator_pb.ts";

export type LimitsInit = MessageInitShape<typeof LimitsSchema>;

/** Returns the limits of the fields of the service Operator. `page`: those of lists in pages. */
export function operatorLimits(page: {
  readonly pageSize: LimitsInit;
  readonly pageToken: LimitsInit;
}): [field: string, limits: LimitsInit][] {
  return [
    ...[ListManagedAccountsRequestSchema, ListModelTasksRequestSchema].flatMap(
      ({ typeName }): [string, LimitsInit][] => [
        [`${typeName}.page_size`, page.pageSize],
        [`${typeName}.page_token`, page.pageToken],
      ],
    ),
    ...OwnLimitsSchema.fields.map(({ name }): [string, LimitsInit] => [
      `${OwnLimitsSchema.typeName}.${name}`,
      { min: 0, ...(name === "stored_bytes" && { max: Number.MAX_SAFE_INTEGER }) },
    ]),
  ];
}
