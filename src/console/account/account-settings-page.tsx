import { useQuery } from "@tanstack/react-query";
import { useSession } from "../api/use-session.ts";
import { polledAccountQuery } from "../overview/overview-queries.ts";
import { Empty } from "../parts/empty.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { settingsText } from "../text/account-settings.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { LimitsUsed } from "../usage/limits-used.tsx";
import { AccountSettingsForm } from "./account-settings-form.tsx";
import { RecordingDefaultsForm } from "./recording-defaults-form.tsx";
import { RecordingDefaultsShown } from "./recording-defaults-shown.tsx";
import "./account-settings.css";

/** The settings of the account: its name, how long data is kept, and its limits. */
export function AccountSettingsPage() {
  const t = useText();
  const { account, scopes } = useSession();
  const mayChange = scopes.includes("account");
  return (
    <div key={account.name} className="settings-page">
      <PageHead title={t(commonText.accountSettings)} sub={t(settingsText.sub)} />
      {mayChange ? (
        <Settings />
      ) : (
        <>
          <Empty title={t(settingsText.notAllowed)}>
            <p>{t(settingsText.notAllowedNext)}</p>
          </Empty>
          <Defaults />
        </>
      )}
      <LimitsUsed />
    </div>
  );
}

/** The defaults for new recordings. The limits below show why they could not be loaded. */
function Defaults() {
  const { data } = useQuery(polledAccountQuery);
  return data ? (
    <RecordingDefaultsShown defaults={data.recordingDefaults ?? {}} />
  ) : (
    <div className="settings-defaults-loading" />
  );
}

function Settings() {
  const t = useText();
  const { data, error, refetch } = useQuery(polledAccountQuery);
  if (!data) {
    return error ? (
      <ProblemNote error={error} onRetry={() => void refetch()} />
    ) : (
      <p className="quiet settings-loading">{t(commonText.loading)}</p>
    );
  }
  return (
    <>
      <AccountSettingsForm account={data} />
      <RecordingDefaultsForm account={data} />
    </>
  );
}
