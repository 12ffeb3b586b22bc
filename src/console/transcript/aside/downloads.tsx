import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { fetchAttachment } from "../../api/call-api.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { AsideSection } from "./aside-section.tsx";
import {
  DocumentChoice,
  type DocumentOptions,
  firstOptions,
  optionsQuery,
} from "./document-options.tsx";
import { RecordingLink } from "./recording-link.tsx";
import { saveFile } from "../../parts/save-file.ts";
import "./downloads.css";

/** The formats, without VTT_POP_ON, which is the same as VTT. */
const formats = [
  "SRT",
  "VTT",
  "VTT_PAINT_ON",
  "AUDACITY_LABELS",
  "TEXT",
  "DOCX",
  "ODT",
  "JSON",
] as const;
type Format = (typeof formats)[number];

type OptionsOf = keyof typeof firstOptions;

/** The formats with options, and which options they have. */
const optionsOf: Partial<Record<Format, OptionsOf>> = {
  TEXT: "text",
  DOCX: "documents",
  ODT: "documents",
};

/** Download links for the shown version in each format, and for the recording. */
export function Downloads({
  transcript,
  name,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
}) {
  const t = useText();
  const announce = useNotify();
  const version = transcript.version?.name ?? "";
  const [options, setOptions] =
    useState<Readonly<Record<OptionsOf, DocumentOptions>>>(firstOptions);
  const download = useMutation({
    mutationFn: async (format: Format) => {
      const has = optionsOf[format];
      const query = new URLSearchParams({
        format,
        version,
        ...(has && optionsQuery(options[has])),
      });
      const { blob, fileName } = await fetchAttachment(`/v1alpha1/${name}:export?${query}`);
      const saved = fileName ?? "transcript";
      saveFile(blob, saved);
      return saved;
    },
    onSuccess: (saved) => announce(t(asideText.downloaded)(saved)),
  });
  const { error, variables } = download;
  return (
    <AsideSection title={t(asideText.download)}>
      <div className="downloads">
        {formats.map((format) => {
          const phrase = asideText.formats[format];
          const text = typeof phrase === "string" ? phrase : t(phrase);
          return (
            <Button
              key={format}
              aria-label={t(asideText.downloadAs)(text)}
              isPending={download.isPending && variables === format}
              onPress={() => {
                if (!download.isPending) download.mutate(format);
              }}
            >
              {text}
            </Button>
          );
        })}
        <RecordingLink transcript={transcript} name={name} />
      </div>
      {(["documents", "text"] as const).map((kind) => (
        <DocumentChoice
          key={kind}
          legend={t(asideText.optionsIn[kind])}
          options={options[kind]}
          onChange={(changed) => setOptions({ ...options, [kind]: changed })}
        />
      ))}
      {error && (
        <ProblemNote error={error} onRetry={() => variables && download.mutate(variables)} />
      )}
    </AsideSection>
  );
}
