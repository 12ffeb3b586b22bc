import type { ReactNode } from "react";
import { Dialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import "./dialog-box.css";

/**
 * A dialog over the page. Escape closes the dialog, unless it `isLocked`: while it waits for an
 * answer of the service, or because it shows something only once. A click outside closes it only if
 * it also `isDismissable`, so that a stray click does not lose typed text.
 */
export function DialogBox({
  title,
  isOpen,
  onClose,
  isDismissable = false,
  isLocked = false,
  children,
}: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isDismissable?: boolean;
  readonly isLocked?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <ModalOverlay
      className="dialog-ground"
      isOpen={isOpen}
      isDismissable={isDismissable && !isLocked}
      isKeyboardDismissDisabled={isLocked}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Modal className="dialog-frame">
        <Dialog className="dialog">
          <Heading slot="title" className="dialog-title">
            {title}
          </Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
