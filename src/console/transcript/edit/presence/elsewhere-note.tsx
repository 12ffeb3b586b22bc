import { Button } from "../../../parts/button.tsx";
import { useText } from "../../../text/language.tsx";
import { presenceText } from "../../../text/transcript-presence.ts";

/** Says that another tab of this browser edits the text, which can be edited here instead. */
export function ElsewhereNote({ onTake }: { readonly onTake: () => void }) {
  const t = useText();
  return (
    <div className="note">
      <output>{t(presenceText.otherTab)}</output>
      <Button onPress={onTake}>{t(presenceText.editHere)}</Button>
    </div>
  );
}
