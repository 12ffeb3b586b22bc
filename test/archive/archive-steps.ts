import fc from "fast-check";
import type { Metadata, Ordering, PatchBody, Segment, Word } from "./archive-model.ts";

/** The value that If-Match names; "older" is the version before the head, if there is one. */
export type IfMatch = "nothing" | "anything" | "head" | "older";

/** A change to one transcript; numbers select one of the existing versions. */
export type Act =
  | {
      readonly do: "patch";
      readonly body: PatchBody;
      readonly mask?: readonly string[] | undefined;
      readonly ifMatch: IfMatch;
      /** Whether the content breaks a rule. */
      readonly isBad?: true;
    }
  | { readonly do: "restore"; readonly version: number; readonly ifMatch: IfMatch }
  | { readonly do: "delete" }
  | {
      readonly do: "upload";
      readonly bytes: number;
      /** Whether to use an upload URL that the transcript already has, if there is one. */
      readonly isOldUrl: boolean;
    };

/**
 * A command as plain data, so that a failure prints everything that is needed to repeat the
 * command.
 */
export type Step =
  | { readonly step: "create"; readonly draft: PatchBody; readonly crashAfterMs?: number }
  | {
      readonly step: "change";
      readonly at: number;
      /** The acts, which are sent concurrently if there are several. */
      readonly acts: readonly Act[];
      /** The time after sending at which the service is killed (kill -9). */
      readonly crashAfterMs?: number;
    }
  | { readonly step: "list"; readonly pageSize: number; readonly ordering: Ordering }
  | { readonly step: "filter by subject"; readonly text: string; readonly pageSize: number }
  | {
      readonly step: "filter by keywords";
      readonly keywords: readonly string[];
      /** Whether the transcripts must have all keywords, not only one of them. */
      readonly isEach: boolean;
      readonly pageSize: number;
      readonly ordering: Ordering;
    }
  | { readonly step: "read a version"; readonly at: number; readonly version: number }
  | {
      readonly step: "download";
      readonly at: number;
      readonly from: number;
      readonly length: number;
    };

// The generator uses few subjects, so that filters find some. They include letters that case
// folding changes, and a composed letter that is sent decomposed.
const subject = fc.oneof(
  fc.constantFrom("Þingfundur", "ÞINGFUNDUR um æsku", "Fréttir", "FRE\u0301TTIR", "100 % a_b", ""),
  fc.string({ unit: fc.constantFrom("þ", "Þ", "á", "Á", "σ", "Σ", "%", "_", '"', "\\") }),
);
const needle = fc.constantFrom(
  "þing",
  "ÞINGF",
  "ÆSK",
  "é",
  "É",
  "%",
  "a_B",
  "Σ",
  '"',
  "\\",
  "",
  "x",
);
const keyword = fc.constantFrom("a", "A", "ab", "þ", "", '"', "{a,b}", "null", "\\");
const mapKey = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString"),
  fc.string({ maxLength: 5 }).filter(isText),
);
const text = fc.string({ maxLength: 20, unit: "grapheme" }).filter(isText);

/** Keys of Object.prototype are keys like any others. */
function mapOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.array(fc.tuple(mapKey, value), { maxLength: 3 }).map(Object.fromEntries<T>);
}

function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

const fields = {
  fileType: fc.constantFrom("AUDIO", "VIDEO"),
  languageCode: fc.constantFrom("is-IS", "en-US", "x-klingon"),
  subject,
  description: text,
  keywords: fc.uniqueArray(keyword, { maxLength: 4 }),
  additionalMetadata: mapOf(text),
  speakers: mapOf(
    fc.record(
      {
        fullName: text,
        ageGroup: fc.constantFrom("AGE_GROUP_UNSPECIFIED", "CHILD", "PENSIONER"),
        gender: fc.constantFrom("GENDER_UNSPECIFIED", "FEMALE", "OTHER"),
      },
      { noNullPrototype: true },
    ),
  ),
  dictation: fc.boolean(),
};

const metadata: fc.Arbitrary<Metadata> = fc.record(fields);
const someMetadata: fc.Arbitrary<NonNullable<PatchBody["metadata"]>> = fc.record(
  {
    ...fields,
    subject: orNull(fields.subject),
    keywords: orNull(fields.keywords),
    speakers: orNull(fields.speakers),
  },
  { requiredKeys: [] },
);

function orNull<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(arbitrary, { freq: 10 });
}

const spoken = fc
  .string({ maxLength: 8, unit: "grapheme" })
  .filter((word) => word.isWellFormed() && !/\p{Cc}/u.test(word));
const gapMs = fc.constantFrom(0, 1, 40, 1000);

/** The segments are built from gaps, so that all times are in order. */
const segments: fc.Arbitrary<Segment[]> = fc
  .array(
    fc.record({
      gapMs,
      speakerId: fc.constantFrom("", "a", "__proto__"),
      words: fc.array(fc.record({ gapMs, lengthMs: gapMs, word: spoken }), { maxLength: 5 }),
    }),
    { maxLength: 4 },
  )
  .map((parts) => {
    let atMs = 0;
    return parts.map(({ gapMs, speakerId, words }) => {
      const startMs = (atMs += gapMs);
      const placed = words.map(({ gapMs, lengthMs, word }): Word => {
        const wordMs = (atMs += gapMs);
        return { startTime: time(wordMs), endTime: time((atMs += lengthMs)), word };
      });
      return { startTime: time(startMs), endTime: time(atMs), words: placed, speakerId };
    });
  });

/** Writes a duration as the service does: with 0 or 3 decimals. */
function time(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${(ms / 1000).toFixed(3)}s`;
}

const ifMatch: fc.Arbitrary<IfMatch> = fc.constantFrom(
  "nothing",
  "nothing",
  "head",
  "head",
  "older",
  "anything",
);
const patchMetadata = fc.record({
  do: fc.constant("patch" as const),
  body: fc.record({ metadata: someMetadata }),
  ifMatch,
});
const patchSegments = fc.record({
  do: fc.constant("patch" as const),
  body: fc.record({ segments }),
  ifMatch,
});
const patchBoth = fc.record({
  do: fc.constant("patch" as const),
  body: fc.record({ metadata: someMetadata, segments }),
  ifMatch,
});
const patchMasked = fc.record({
  do: fc.constant("patch" as const),
  body: fc.record({ metadata: someMetadata, segments }, { requiredKeys: [] }),
  mask: fc.subarray(
    [
      "metadata.subject",
      "metadata.keywords",
      "metadata.additional_metadata",
      "metadata.speakers",
      "metadata.languageCode",
      "metadata.dictation",
      "segments",
    ],
    { minLength: 1 },
  ),
  ifMatch,
});
const badPatch = fc.record({
  do: fc.constant("patch" as const),
  body: fc.constantFrom<PatchBody>(
    {},
    { metadata: { languageCode: "" } },
    { metadata: { fileType: "FILE_TYPE_UNSPECIFIED" } },
    { metadata: { subject: "x".repeat(1001) } },
    { metadata: { subject: "fine" }, segments: [bad("2s", "1s")] },
    { segments: [bad("2s", "3s"), bad("1s", "3s")] },
  ),
  ifMatch,
  isBad: fc.constant(true as const),
});
const restore = fc.record({ do: fc.constant("restore" as const), version: fc.nat(), ifMatch });
const upload = fc.record({
  do: fc.constant("upload" as const),
  bytes: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 200_000 })),
  isOldUrl: fc.boolean(),
});
const deletion = fc.constant({ do: "delete" as const });

function bad(startTime: string, endTime: string): Segment {
  return { startTime, endTime, words: [], speakerId: "" };
}

const patch = fc.oneof(patchMetadata, patchSegments, patchBoth, patchMasked);
const racing: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: patch },
  { weight: 2, arbitrary: restore },
  { weight: 3, arbitrary: upload },
  { weight: 1, arbitrary: deletion },
);
const at = fc.nat(7);
const pageSize = fc.constantFrom(0, 1, 2, 3, 1000);
const ordering: fc.Arbitrary<Ordering> = fc.record({
  orderBy: fc.constantFrom("", "subject", "metadata.recording_duration", "version.creation_time"),
  isAscending: fc.boolean(),
});
const draft = fc.record({ metadata, segments }, { requiredKeys: ["metadata"] });
/** The delay can end before a write begins, during the write, or after it has ended. */
const crashAfterMs = fc.integer({ min: 0, max: 15 });

function oneAct(act: fc.Arbitrary<Act>): fc.Arbitrary<Step> {
  return fc.record({ step: fc.constant("change" as const), at, acts: fc.tuple(act) });
}

/** Generates any command; one in `crashEvery` is a crash. */
export function steps(crashEvery: number): fc.Arbitrary<Step> {
  const step = <Name extends Step["step"]>(name: Name) => fc.constant(name);
  const change = step("change");
  const commands = fc.oneof(
    { weight: 6, arbitrary: fc.record({ step: step("create"), draft }) },
    { weight: 4, arbitrary: oneAct(patchMetadata) },
    { weight: 3, arbitrary: oneAct(patchSegments) },
    { weight: 2, arbitrary: oneAct(patchBoth) },
    { weight: 2, arbitrary: oneAct(patchMasked) },
    { weight: 1, arbitrary: oneAct(badPatch) },
    { weight: 3, arbitrary: oneAct(restore) },
    { weight: 3, arbitrary: oneAct(upload) },
    { weight: 1, arbitrary: oneAct(deletion) },
    { weight: 4, arbitrary: fc.record({ step: change, at, acts: fc.tuple(racing, racing) }) },
    { weight: 1, arbitrary: fc.record({ step: step("list"), pageSize, ordering }) },
    {
      weight: 1,
      arbitrary: fc.record({ step: step("filter by subject"), text: needle, pageSize }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        step: step("filter by keywords"),
        keywords: fc.array(keyword, { minLength: 1, maxLength: 2 }),
        isEach: fc.boolean(),
        pageSize,
        ordering,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ step: step("read a version"), at, version: fc.nat() }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        step: step("download"),
        at,
        from: fc.nat(300_000),
        length: fc.integer({ min: 1, max: 100_000 }),
      }),
    },
  );
  const crashes = fc.oneof(
    fc.record({ step: step("create"), draft, crashAfterMs }),
    fc.record({
      step: change,
      at,
      acts: fc.array(racing, { minLength: 1, maxLength: 2 }),
      crashAfterMs,
    }),
  );
  return fc.oneof(
    { weight: crashEvery - 1, arbitrary: commands },
    { weight: 1, arbitrary: crashes },
  );
}
