import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { fetchAttachment } from "../../api/call-api.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { Button } from "../../parts/button.tsx";
import { loadLater } from "../../parts/load-later.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { AsideSection } from "./aside-section.tsx";
import { firstOptions, type FileOptions, optionsQuery } from "./file-options.ts";
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

const FileChoices = loadLater(() =>
  import("./file-choices.tsx").then(({ FileChoices }) => FileChoices),
);

/** Download links for the shown version in each format, and for the recording. */
export function Downloads({
  transcript,
  name,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
}) {
  const t = useText();
  const notify = useNotify();
  const version = transcript.version?.name ?? "";
  const [options, setOptions] = useState<FileOptions>(firstOptions);
  const [hasChoices, setHasChoices] = useState(false);
  const fetchFile = async (format: Format) => {
    const query = new URLSearchParams({ format, version, ...optionsQuery(format, options) });
    return await fetchAttachment(`/v1alpha1/${name}:export?${query}`);
  };
  const download = useMutation({
    mutationFn: async (format: Format) => {
      const { blob, fileName } = await fetchFile(format);
      const saved = fileName ?? "transcript";
      saveFile(blob, saved);
      return saved;
    },
    onSuccess: (saved) => notify(t(asideText.downloaded)(saved)),
  });
  const copy = useMutation({
    mutationFn: async () => {
      const text = fetchFile("TEXT").then(({ blob }) => blob);
      // The browser allows copying only right after a press, so it gets a promise of the text.
      const item = new ClipboardItem({ "text/plain": text });
      const copied = navigator.clipboard.write([item]).then(
        () => true,
        () => false,
      );
      await text;
      return await copied;
    },
    onSuccess: (isCopied) => notify(t(isCopied ? asideText.textCopied : asideText.textNotCopied)),
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
      <div className="downloads">
        <Button isPending={copy.isPending} onPress={() => copy.mutate()}>
          {t(asideText.copyText)}
        </Button>
        <Link className="button" to={`/${name}/examples`}>
          {t(asideText.examples)}
        </Link>
      </div>
      <details className="file-choices" onToggle={() => setHasChoices(true)}>
        <summary>{t(asideText.fileChoices)}</summary>
        {hasChoices && <FileChoices options={options} onChange={setOptions} />}
      </details>
      {copy.error && <ProblemNote error={copy.error} onRetry={() => copy.mutate()} />}
      {error && (
        <ProblemNote error={error} onRetry={() => variables && download.mutate(variables)} />
      )}
    </AsideSection>
  );
}
