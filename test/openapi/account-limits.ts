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
import { languageCodePattern } from "../../src/std/language-code.ts";
import type { LimitsInit } from "./operator-limits.ts";

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
