import { Dialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import type { TranscriptJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Button } from "../../../parts/button.tsx";
import { commonText } from "../../../text/common.ts";
import { useText } from "../../../text/language.tsx";
import { asideText } from "../../../text/transcript-aside.ts";
import type { VersionAddress } from "../version-address.ts";
import { Comparison } from "./comparison.tsx";
import "./compare-dialog.css";

/**
 * A dialog over the whole page with the changes in a version. It is open if the address names such
 * a version.
 */
export function CompareDialog({
  name,
  transcript,
  address: { changed, against },
  onChoose,
  onClose,
}: {
  readonly name: string;
  readonly transcript: TranscriptJson;
  readonly address: VersionAddress;
  readonly onChoose: (against: string | undefined) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  return (
    <ModalOverlay
      className="compare-ground"
      isOpen={changed !== undefined}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Modal className="compare-frame">
        <Dialog className="compare">
          <header className="compare-head">
            <Heading slot="title" className="dialog-title">
              {t(asideText.whatChanged)}
            </Heading>
            <Button look="quiet" onPress={onClose}>
              {t(commonText.close)}
            </Button>
          </header>
          {changed !== undefined && (
            <Comparison
              key={`${changed} ${against}`}
              name={name}
              transcript={transcript}
              version={changed}
              against={against}
              onChoose={onChoose}
            />
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
