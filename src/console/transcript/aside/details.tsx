import { type ReactNode, useState } from "react";
import type {
  TranscriptJson,
  TranscriptMetadata_DataSourceJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../parts/button.tsx";
import { type Phrase, useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { AsideSection } from "./aside-section.tsx";
import { useDialog } from "./use-dialog.ts";
import "./details.css";

const loadDelete = () => import("./delete-dialog.tsx");
const loadDetails = () => import("./details-dialog.tsx");

/**
 * The details that the head of the page does not show, such as the source, with buttons for editing
 * them and for deleting the transcript.
 */
export function Details({
  transcript,
  name,
  canChange,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly canChange: boolean;
}) {
  const t = useText();
  const [open, setOpen] = useState<"edit" | "delete">();
  const close = () => setOpen(undefined);
  const {
    description = "",
    dataSource,
    originalFilename = "",
    originalUri = "",
    additionalMetadata = {},
  } = transcript.metadata ?? {};
  const isLive = ownKeys.some((key) => key in additionalMetadata);
  const origin = isLive ? asideText.originLive : origins[dataSource ?? "DATA_SOURCE_UNSPECIFIED"];
  const others = Object.entries(additionalMetadata).filter(([key]) => !ownKeys.includes(key));
  return (
    <AsideSection
      title={t(asideText.details)}
      action={
        canChange && (
          <Button look="quiet" onPress={() => setOpen("edit")}>
            {t(asideText.edit)}
          </Button>
        )
      }
    >
      {description !== "" && (
        <p className="details-text" dir="auto">
          {description}
        </p>
      )}
      <dl className="details">
        {origin && <Fact name={t(asideText.origin)}>{t(origin)}</Fact>}
        {originalFilename !== "" && <Fact name={t(asideText.fileName)}>{originalFilename}</Fact>}
        {/* Values from callers are shown as text, never as links: they may contain any URL. */}
        {originalUri !== "" && !originalUri.startsWith("uploads/") && (
          <Fact name={t(asideText.address)}>{originalUri}</Fact>
        )}
        {others.map(([key, value]) => (
          <Fact key={key} name={key}>
            {value}
          </Fact>
        ))}
      </dl>
      {canChange && (
        <>
          <Button look="danger" onPress={() => setOpen("delete")}>
            {t(asideText.remove)}
          </Button>
          <Dialogs transcript={transcript} name={name} open={open} onClose={close} />
        </>
      )}
    </AsideSection>
  );
}

/** The keys of additionalMetadata in which the console itself identifies live recordings. */
const ownKeys: readonly string[] = ["console.recording"];

/** The dialogs of the buttons; `open` is the one that is open. */
function Dialogs({
  transcript,
  name,
  open,
  onClose,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
  readonly open: "edit" | "delete" | undefined;
  readonly onClose: () => void;
}) {
  const details = useDialog(loadDetails, open === "edit");
  const deletion = useDialog(loadDelete, open === "delete");
  const shared = { transcript, name, onClose };
  return (
    <>
      {details && <details.DetailsDialog {...shared} isOpen={open === "edit"} />}
      {deletion && <deletion.DeleteDialog {...shared} isOpen={open === "delete"} />}
    </>
  );
}

const origins: Readonly<Record<TranscriptMetadata_DataSourceJson, Phrase<string> | undefined>> = {
  DATA_SOURCE_UNSPECIFIED: undefined,
  UPLOAD: asideText.originUpload,
  URI: asideText.originUri,
  USER: asideText.originUser,
};

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
