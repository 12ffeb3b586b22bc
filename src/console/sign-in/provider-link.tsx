import { useText } from "../text/language.tsx";
import { signInText } from "../text/sign-in.ts";

/** To the provider of OpenID Connect, and from there to where the browser is now. */
export function ProviderLink() {
  const t = useText();
  const to = encodeURIComponent(location.pathname + location.search);
  return (
    <a className="button primary provider-link" href={`/console/sign-in?to=${to}`}>
      {t(signInText.withProvider)}
    </a>
  );
}
