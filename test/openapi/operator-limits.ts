import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  auditActionCharsMax,
  auditActionPattern,
  auditActorCharsMax,
} from "../../src/accounts/audit-methods.ts";
import { languageCodeCharsMax, modelCharsMax } from "../../src/accounts/recording-defaults.ts";
import { hintCharsMax, hintPhrasesMax } from "../../src/engines/protocol/check-hints.ts";
import {
  ListAuditEventsRequestSchema,
  RecordingDefaultsSchema,
} from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import type { LimitsSchema } from "../../src/gen/hlust/api/annotations_pb.ts";
import {
  ListManagedAccountsRequestSchema,
  ListModelTasksRequestSchema,
  OwnLimitsSchema,
} from "../../src/gen/hlust/operator/v1/operator_pb.ts";

import { languageCodePattern } from "../../src/std/language-code.ts";

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

/** Returns the limits of the account's defaults for new recordings, and of its audit log. */
export function accountLimits(displayName: LimitsInit): [field: string, limits: LimitsInit][] {
  const { typeName } = RecordingDefaultsSchema;
  const pattern = `^$|${languageCodePattern.source}`;
  const audit = ListAuditEventsRequestSchema.typeName;
  return [
    [`${audit}.actor`, { charsMax: auditActorCharsMax }],
    [`${audit}.action`, { charsMax: auditActionCharsMax, pattern: auditActionPattern.source }],
    [`${typeName}.language_code`, { charsMax: languageCodeCharsMax, pattern }],
    [`${typeName}.model`, { ...displayName, charsMax: modelCharsMax }],
    [`${typeName}.phrases`, { itemsMax: hintPhrasesMax, charsMax: hintCharsMax }],
  ];
}
