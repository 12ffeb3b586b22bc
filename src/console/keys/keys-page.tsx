import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { useSession } from "../api/use-session.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { loadLater } from "../parts/load-later.tsx";
import { commonText } from "../text/common.ts";
import { keysText } from "../text/keys.ts";
import { type Phrase, useText } from "../text/language.tsx";
import { programsText } from "../text/programs.ts";
import { apiKeysQuery, clientKeysQuery, type Key } from "./key.ts";
import { type KeyAct, KeyRows } from "./key-rows.tsx";

const NewApiKey = loadLater(() => import("./new-api-key.tsx").then(({ NewApiKey }) => NewApiKey));
const NewClientKey = loadLater(() =>
  import("./new-client-key.tsx").then(({ NewClientKey }) => NewClientKey),
);
const EditKey = loadLater(() => import("./edit-key.tsx").then(({ EditKey }) => EditKey));
const RotateKey = loadLater(() => import("./rotate-key.tsx").then(({ RotateKey }) => RotateKey));
const RevokeKey = loadLater(() => import("./revoke-key.tsx").then(({ RevokeKey }) => RevokeKey));

/** The keys of the account's programs, for users who may manage them. */
export function KeysPage() {
  const t = useText();
  const { account, scopes } = useSession();
  if (scopes.includes("account")) return <Keys key={account.name} />;
  return (
    <>
      <PageHead title={t(commonText.keys)} />
      <Empty title={t(keysText.notAllowed)}>
        <p>{t(keysText.notAllowedNext)}</p>
      </Empty>
    </>
  );
}

/** The dialog that is open. */
type OpenDialog = "apiKey" | "clientKey" | { readonly act: KeyAct; readonly of: Key };

function Keys() {
  const t = useText();
  const apiKeys = useQuery(apiKeysQuery);
  const clientKeys = useQuery(clientKeysQuery);
  const [dialog, setDialog] = useState<OpenDialog>();
  const [revocations, setRevocations] = useState(0);
  const close = () => setDialog(undefined);
  const open = (act: KeyAct, of: Key) => setDialog({ act, of });
  useEffect(() => {
    if (revocations === 0) return undefined;
    // The button that was pressed has been removed with its row. The focus moves to the title in
    // the next frame, after the dialog has tried to return it to that button.
    const frame = requestAnimationFrame(() =>
      document.querySelector<HTMLElement>("main h1")?.focus(),
    );
    return () => cancelAnimationFrame(frame);
  }, [revocations]);
  return (
    <>
      <PageHead title={t(commonText.keys)} sub={t(keysText.sub)}>
        <Button look="primary" onPress={() => setDialog("apiKey")}>
          {t(keysText.newApiKey)}
        </Button>
        <Button onPress={() => setDialog("clientKey")}>{t(keysText.newClientKey)}</Button>
      </PageHead>
      <p>
        <Link to="/programs">{t(programsText.title)}</Link>
      </p>
      <Kind title={keysText.apiKeys} none={keysText.noApiKeys} list={apiKeys} onOpen={open} />
      <Kind
        title={keysText.clientKeys}
        none={keysText.noClientKeys}
        list={clientKeys}
        onOpen={open}
      />

      {dialog === "apiKey" && <NewApiKey onClose={close} />}
      {dialog === "clientKey" && <NewClientKey onClose={close} />}
      {typeof dialog === "object" && dialog.act === "edit" && (
        <EditKey edited={dialog.of} onClose={close} />
      )}
      {typeof dialog === "object" && dialog.act === "rotate" && (
        <RotateKey rotated={dialog.of} onClose={close} />
      )}
      {typeof dialog === "object" && dialog.act === "revoke" && (
        <RevokeKey
          revoked={dialog.of}
          onClose={close}
          onRevoked={() => {
            close();
            setRevocations((count) => count + 1);
          }}
        />
      )}
    </>
  );
}

function Kind({
  title,
  none,
  list: { data, error, refetch },
  onOpen,
}: {
  readonly title: Phrase<string>;
  readonly none: Phrase<string>;
  readonly list: UseQueryResult<readonly Key[]>;
  readonly onOpen: (act: KeyAct, key: Key) => void;
}) {
  const t = useText();
  return (
    <section className="key-kind">
      <h2>{t(title)}</h2>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <p className="quiet">{t(commonText.loading)}</p>}
      {data?.length === 0 && <p className="key-none">{t(none)}</p>}
      {data && data.length > 0 && <KeyRows label={t(title)} keys={data} onOpen={onOpen} />}
    </section>
  );
}
