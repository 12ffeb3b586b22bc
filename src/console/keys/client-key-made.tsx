import type { ClientKeyJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { Button } from "../parts/button.tsx";
import { CodeSample } from "../parts/code-sample.tsx";
import { keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { saveFile } from "./save-file.ts";
import { signedRequest } from "./signed-request.ts";
import { useUnsaved } from "./use-unsaved.ts";

/**
 * A client key that was registered: what its tokens must say, a request to try it with, and the
 * private key to save, this once.
 */
export function ClientKeyMade({
  clientKey,
  privatePem,
  onClose,
}: {
  readonly clientKey: ClientKeyJson;
  /** undefined for a key of the user's own. */
  readonly privatePem: string | undefined;
  readonly onClose: () => void;
}) {
  const t = useText();
  useUnsaved();
  const { keyId = "", clientId = "", algorithm = "" } = clientKey;
  const facts = { keyId, clientId, audience: location.origin, algorithm };
  const text = JSON.stringify(facts, undefined, 2);
  const request = signedRequest(facts);
  return (
    <div className="key-form">
      {privatePem !== undefined && (
        <>
          <p role="alert">{t(keysText.privateOnce)}</p>
          <div>
            <Button
              look="primary"
              onPress={() => saveFile("private-key.pem", "application/x-pem-file", privatePem)}
            >
              {t(keysText.savePrivate)}
            </Button>
          </div>
        </>
      )}
      <p>{t(keysText.factsHint)}</p>
      <CodeSample label={t(keysText.factsHint)} text={text} />
      {request !== undefined && (
        <>
          <p>{t(keysText.signAndCall)}</p>
          <CodeSample label={t(keysText.request)} text={request} />
        </>
      )}
      <div className="dialog-actions">
        <Button onPress={() => saveFile("client-key.json", "application/json", `${text}\n`)}>
          {t(keysText.saveFacts)}
        </Button>
        <Button onPress={onClose}>
          {t(privatePem === undefined ? keysText.done : keysText.saved)}
        </Button>
      </div>
    </div>
  );
}
