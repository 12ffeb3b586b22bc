import { useQuery } from "@tanstack/react-query";
import { membersQuery } from "../account/account-query.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { usageText } from "../text/usage.ts";
import { memberUsageQuery } from "./usage-query.ts";
import { UsageTable } from "./usage-table.tsx";

/** The use of each person in a month, in the console and with the keys that the person created. */
export function PeopleUse({ month }: { readonly month: string }) {
  const t = useText();
  const usage = useQuery(memberUsageQuery(month));
  const members = useQuery(membersQuery);
  const error = usage.error ?? members.error;
  if (!usage.data || !members.data) {
    const retry = () => void Promise.all([usage.refetch(), members.refetch()]);
    return error ? (
      <ProblemNote error={error} onRetry={retry} />
    ) : (
      <p className="quiet use-loading">{t(commonText.loading)}</p>
    );
  }
  if (!usage.data.some(({ name }) => name !== "")) return null;
  const names = new Map(
    members.data.map(({ name, displayName, email }) => [
      name,
      displayName ? `${displayName} (${email})` : email,
    ]),
  );
  const labelOf = (name: string) =>
    name === "" ? t(usageText.noPerson) : (names.get(name) ?? t(usageText.removedPerson));
  return (
    <div>
      <UsageTable
        id="use-people"
        title={t(usageText.byPerson)}
        first={t(usageText.person)}
        rows={usage.data}
        labelOf={labelOf}
        csv={{
          text: t(usageText.csvPeople),
          column: "person",
          fileName: `hlust-people-${month}.csv`,
          isLabeled: true,
        }}
      />
      <p className="quiet use-hint">{t(usageText.byPersonHint)}</p>
    </div>
  );
}
