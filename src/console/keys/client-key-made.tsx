import type { ClientKeyJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { Button } from "../parts/button.tsx";
import { CodeSample } from "../parts/code-sample.tsx";
import { keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { saveFile } from "../parts/save-file.ts";
import { signedRequest } from "./signed-request.ts";
import { useUnsaved } from "./use-unsaved.ts";

/**
 * A newly registered client key: the claims for its tokens, an example request, and the private
 * key, which can be saved only now.
 */
export function ClientKeyMade({
  clientKey,
  privatePem,
  onClose,
}: {
  readonly clientKey: ClientKeyJson;
  /** The private key; undefined if the user has registered an existing public key. */
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
    <div className="dialog-form">
      {privatePem !== undefined && (
        <>
          <p role="alert">{t(keysText.privateOnce)}</p>
          <div>
            <Button
              look="primary"
              onPress={() =>
                saveFile(
                  new Blob([privatePem], { type: "application/x-pem-file" }),
                  "private-key.pem",
                )
              }
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
        <Button
          onPress={() =>
            saveFile(new Blob([text, "\n"], { type: "application/json" }), "client-key.json")
          }
        >
          {t(keysText.saveFacts)}
        </Button>
        <Button onPress={onClose}>
          {t(privatePem === undefined ? keysText.done : keysText.saved)}
        </Button>
      </div>
    </div>
  );
}
