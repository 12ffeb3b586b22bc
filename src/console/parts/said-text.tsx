import { useText } from "../text/language.tsx";
import type { Explained } from "../text/explained-messages.ts";

/** A message of the service in the console's words, with the service's own if there are none. */
export function SaidText({ said }: { readonly said: Explained }) {
  const t = useText();
  return (
    <>
      {t(said)}
      {said.detail !== undefined && (
        <>
          {" "}
          <span lang="en" dir="ltr">
            {said.detail}
          </span>
        </>
      )}
    </>
  );
}
