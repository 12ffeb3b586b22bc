import { useUnsaved } from "../keys/use-unsaved.ts";
import { Button } from "../parts/button.tsx";
import { CodeSample } from "../parts/code-sample.tsx";
import { useText } from "../text/language.tsx";
import { webhooksText } from "../text/webhooks.ts";

/** A new secret in a dialog. It is shown only once, so the browser asks before the page is left. */
export function WebhookSecret({
  secret,
  onClose,
}: {
  readonly secret: string;
  readonly onClose: () => void;
}) {
  const t = useText();
  useUnsaved();
  return (
    <div className="dialog-form">
      <p role="alert">{t(webhooksText.secretOnce)}</p>
      <CodeSample label={t(webhooksText.secret)} text={secret} />
      <div className="dialog-actions">
        <Button look="primary" onPress={onClose}>
          {t(webhooksText.secretSaved)}
        </Button>
      </div>
    </div>
  );
}
