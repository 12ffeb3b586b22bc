import { useState } from "react";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { Button } from "./button.tsx";
import "./code-sample.css";

/** Text for a terminal, or a secret, with a button that copies it. */
export function CodeSample({ label, text }: { readonly label: string; readonly text: string }) {
  const t = useText();
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    // Without access to the clipboard (http, or no permission), the text can still be selected by
    // hand.
    await navigator.clipboard.writeText(text).then(
      () => setIsCopied(true),
      () => setIsCopied(false),
    );
  };
  return (
    <div className="code-sample">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard must reach a text that scrolls */}
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <Button look="quiet" onPress={() => void copy()}>
        <span aria-live="polite">{t(isCopied ? commonText.copied : commonText.copy)}</span>
      </Button>
    </div>
  );
}
