import type { Session } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { useNow } from "../text/use-now.ts";
import { Button } from "../parts/button.tsx";
import { Chip } from "../parts/chip.tsx";
import { shortDate, when } from "../text/dates.ts";
import { keysText } from "../text/keys.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { type Key, limitNames } from "./key.ts";
import "../parts/rows.css";
import "./keys.css";

/** What can be done with a key. A client key has no secret to rotate. */
const acts = ["edit", "rotate", "revoke"] as const;
export type KeyAct = (typeof acts)[number];

/** The keys of one kind, newest first. */
export function KeyRows({
  label,
  keys,
  onOpen,
}: {
  readonly label: string;
  readonly keys: readonly Key[];
  readonly onOpen: (act: KeyAct, key: Key) => void;
}) {
  const session = useSession();
  return (
    <ul className="rows" aria-label={label}>
      {keys.map((key) => (
        <KeyRow key={key.name} shown={key} session={session} onOpen={(act) => onOpen(act, key)} />
      ))}
    </ul>
  );
}

function KeyRow({
  shown,
  session,
  onOpen,
}: {
  readonly shown: Key;
  readonly session: Session;
  readonly onOpen: (act: KeyAct) => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { displayName, scopes, label, creationTime, expireTime, lastUseTime } = shown;
  const { previousSecretExpireTime: previousUntil } = shown;
  const now = useNow();
  const day = (time: string) => shortDate(language, new Date(time), now);
  const isExpired = expireTime !== undefined && new Date(expireTime) <= now;
  return (
    <li className="row key-row">
      <h3 className="title" dir="auto">
        {displayName || t(keysText.unnamed)}
      </h3>
      <div className="meta">
        {scopes.map((scope) => (
          <Chip key={scope} text={scope} />
        ))}
        <span className="figures">{label}</span>
        <span>{t(keysText.created)(day(creationTime))}</span>
        <span>
          {lastUseTime === undefined
            ? t(keysText.neverUsed)
            : t(keysText.lastUsed)(when(language, new Date(lastUseTime), now))}
        </span>
        {session.actor === shown.name && <span>{t(keysText.ownKey)}</span>}
        {previousUntil !== undefined && (
          <span>{t(keysText.twoSecrets)(when(language, new Date(previousUntil), now))}</span>
        )}
        <Limits limits={shown.limits} />
      </div>
      <div className="side">
        {expireTime === undefined ? (
          <span>{t(keysText.neverExpires)}</span>
        ) : (
          <span className={isExpired ? "failed" : undefined}>
            {t(isExpired ? keysText.expired : keysText.expires)}{" "}
            <time dateTime={expireTime}>{day(expireTime)}</time>
          </span>
        )}
        <div className="key-acts">
          {acts.map((act) => {
            const isOffered = act !== "rotate" || shown.name.startsWith("apiKeys/");
            return (
              isOffered && (
                <Button
                  key={act}
                  look="quiet"
                  aria-label={t(keysText.actOf[act])(displayName || label)}
                  onPress={() => onOpen(act)}
                >
                  {t(keysText.act[act])}
                </Button>
              )
            );
          })}
        </div>
      </div>
    </li>
  );
}

/** The key's own limits, if it has any. */
function Limits({ limits }: { readonly limits: Key["limits"] }) {
  const t = useText();
  return limitNames.map((name) => {
    const limit = limits[name] ?? 0;
    return limit > 0 && <span key={name}>{t(keysText.limits[name])(limit)}</span>;
  });
}
