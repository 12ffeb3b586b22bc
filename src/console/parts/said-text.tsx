import { useText } from "../text/language.tsx";
import type { Explained } from "../text/explained-messages.ts";

/** A message of the service in the console's words, with the service's own if there are none. */
export function SaidText({ said }: { readonly said: Explained }) {
  const t = useText();
  return (
    <>
      {t(said)}
      <SaidDetail detail={said.detail} />
    </>
  );
}

/** The service's own words, in English, after a sentence for what the console has no words for. */
export function SaidDetail({ detail }: { readonly detail: string | undefined }) {
  if (detail === undefined) return null;
  return (
    <>
      {" "}
      <span lang="en" dir="ltr">
        {detail}
      </span>
    </>
  );
}
