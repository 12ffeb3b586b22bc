import { filterCharsMax } from "../../src/transcripts/filter.ts";
import {
  BinTranscriptsRequestSchema,
  DeleteBinnedTranscriptsRequestSchema,
  ListBinnedTranscriptsRequestSchema,
  RestoreBinnedTranscriptsRequestSchema,
} from "../../src/gen/hlust/transcripts/v1alpha1/bin_pb.ts";
import {
  CountTranscriptsRequestSchema,
  ListFirstWordsRequestSchema,
} from "../../src/gen/hlust/transcripts/v1alpha1/several_pb.ts";
import { ExportOptionsSchema } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import {
  intervalSecondsBounds,
  lineCharsBounds,
  linesBounds,
} from "../../src/transcripts/export-options.ts";
import { namesMax } from "../../src/transcripts/named-transcripts.ts";
import type { LimitsInit } from "./operator-limits.ts";

/** Returns the limits of the calls about several transcripts, and about the bin. */
export function severalLimits(page: {
  readonly pageSize: LimitsInit;
  readonly pageToken: LimitsInit;
}): [field: string, limits: LimitsInit][] {
  const binned = ListBinnedTranscriptsRequestSchema.typeName;
  return [
    [`${binned}.page_size`, page.pageSize],
    [`${binned}.page_token`, page.pageToken],
    [`${CountTranscriptsRequestSchema.typeName}.filter`, { charsMax: filterCharsMax }],
    ...[
      ListFirstWordsRequestSchema,
      BinTranscriptsRequestSchema,
      RestoreBinnedTranscriptsRequestSchema,
      DeleteBinnedTranscriptsRequestSchema,
    ].map(({ typeName }): [string, LimitsInit] => [`${typeName}.names`, { itemsMax: namesMax }]),
  ];
}

/** Returns the limits of what an export shows. */
export function exportLimits(): [field: string, limits: LimitsInit][] {
  const { typeName } = ExportOptionsSchema;
  return [
    [`${typeName}.interval_seconds`, { min: 0, max: intervalSecondsBounds.max }],
    [`${typeName}.line_chars`, { min: 0, max: lineCharsBounds.max }],
    [`${typeName}.lines`, { min: 0, max: linesBounds.max }],
  ];
}
