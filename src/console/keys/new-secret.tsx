import { Button } from "../parts/button.tsx";
import { CodeSample } from "../parts/code-sample.tsx";
import { keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { useUnsaved } from "./use-unsaved.ts";

/** A new API key in a dialog, with a request to try. It is shown only once. */
export function NewSecret({
  secret,
  onClose,
}: {
  readonly secret: string;
  readonly onClose: () => void;
}) {
  const t = useText();
  useUnsaved();
  const request = `curl -H "Authorization: Bearer ${secret}" ${location.origin}/v1/caller`;
  return (
    <div className="dialog-form">
      <p role="alert">{t(keysText.secretOnce)}</p>
      <CodeSample label={t(keysText.secret)} text={secret} />
      <p>{t(keysText.tryIt)}</p>
      <CodeSample label={t(keysText.request)} text={request} />
      <div className="dialog-actions">
        <Button look="primary" onPress={onClose}>
          {t(keysText.saved)}
        </Button>
      </div>
    </div>
  );
}
