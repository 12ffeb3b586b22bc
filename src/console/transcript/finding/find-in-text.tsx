import { useCallback, useRef, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { loadLater } from "../../parts/load-later.tsx";
import { useText } from "../../text/language.tsx";
import { transcriptText } from "../../text/transcript.ts";
import { useLetter } from "../use-letter.ts";
import type { FindPanelProps } from "./find-panel.tsx";

const FindPanel = loadLater(() => import("./find-panel.tsx").then(({ FindPanel }) => FindPanel));

/** The button that finds a phrase in a text that is read, as F does, and its panel. */
export function FindInText(props: Omit<FindPanelProps, "open" | "onClose">) {
  const t = useText();
  const [open, setOpen] = useState<object>();
  const button = useRef<HTMLButtonElement>(null);
  const find = useCallback(() => setOpen({}), []);
  useLetter("f", true, find);
  return (
    <>
      <Button ref={button} aria-keyshortcuts="F" onPress={find}>
        {t(transcriptText.find)}
      </Button>
      {open && (
        <FindPanel
          {...props}
          open={open}
          onClose={() => {
            setOpen(undefined);
            button.current?.focus();
          }}
        />
      )}
    </>
  );
}
