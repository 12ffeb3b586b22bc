import type { MetadataChangeJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { type Phrase, useText } from "../../../text/language.tsx";
import { asideText } from "../../../text/transcript-aside.ts";
import { asideDialogText } from "../../../text/aside-dialogs.ts";

/** The metadata fields that differ, with their old and new values. */
export function MetadataChanges({ changes }: { readonly changes: readonly MetadataChangeJson[] }) {
  const t = useText();
  return (
    <section className="metadata-changes" data-place tabIndex={-1}>
      <h3>{t(asideDialogText.facts)}</h3>
      <dl>
        {changes.map(({ field = "", value, againstValue }) => (
          <div key={field}>
            <dt>{nameOf(field, t)}</dt>
            <dd>
              <Value value={againstValue} as="del" /> <Value value={value} as="ins" />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

type JsonValue = MetadataChangeJson["value"];

function Value({ value, as: Tag }: { readonly value: JsonValue; readonly as: "ins" | "del" }) {
  const text = textOf(value);
  return text === "" ? null : <Tag>{text}</Tag>;
}

function textOf(value: JsonValue): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (typeof value === "object") return Object.values(value).map(textOf).join(", ");
  return String(value);
}

const names: Readonly<Record<string, Phrase<string>>> = {
  subject: asideDialogText.subject,
  description: asideDialogText.description,
  keywords: asideDialogText.keywords,
  languageCode: asideDialogText.language,
  dataSource: asideText.origin,
  fileType: asideDialogText.fileType,
};

/**
 * Returns the console's name for a field. Fields that callers have added are shown under their own
 * names.
 */
function nameOf(field: string, t: <Text>(phrase: Phrase<Text>) => Text): string {
  const known = names[field];
  if (known) return t(known);
  const [map = "", ...key] = field.split(".");
  if (map === "speakers") return t(asideText.speaker)(key.join("."));
  return map === "additionalMetadata" ? key.join(".") : field;
}
