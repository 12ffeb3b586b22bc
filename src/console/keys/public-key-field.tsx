import { type ReactNode, useRef } from "react";
import { Button } from "../parts/button.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { keysText } from "../text/keys.ts";
import { useText } from "../text/language.tsx";
import { publicKeyCharsMax } from "./public-key-problem.ts";
import "./key-form.css";

/**
 * A field for a public key, which the user pastes or reads from a file. The key is checked before
 * it is sent.
 */
export function PublicKeyField({
  value,
  onChange,
  problem,
}: {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly problem: ReactNode;
}) {
  const t = useText();
  const file = useRef<HTMLInputElement>(null);
  return (
    <div className="public-key">
      <TextInput
        label={t(keysText.publicKey)}
        lines={6}
        value={value}
        onChange={onChange}
        problem={problem}
        spellCheck="false"
        autoComplete="off"
      />
      <input
        ref={file}
        type="file"
        hidden
        accept=".pem,.pub,.jwk,.json,.key,.txt"
        onChange={({ target }) => {
          // One character over the limit is enough to show that the file is not a key.
          const [chosen] = target.files ?? [];
          void chosen
            ?.slice(0, publicKeyCharsMax + 1)
            .text()
            .then(onChange);
          target.value = "";
        }}
      />
      <Button onPress={() => file.current?.click()}>{t(keysText.chooseFile)}</Button>
    </div>
  );
}
