import { useText } from "../text/language.tsx";
import { signInText } from "../text/sign-in.ts";

/** A link to the OpenID Connect provider, which leads back to the current page. */
export function ProviderLink() {
  const t = useText();
  const to = encodeURIComponent(location.pathname + location.search);
  return (
    <a className="button primary provider-link" href={`/console/sign-in?to=${to}`}>
      {t(signInText.withProvider)}
    </a>
  );
}
