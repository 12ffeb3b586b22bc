import { useMutation } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { saveFile } from "../parts/save-file.ts";
import { accountText } from "../text/account.ts";
import { useText } from "../text/language.tsx";
import type { AuditFilter } from "./account-query.ts";
import { allEvents, auditCsv } from "./audit-csv.ts";

/** The kinds of actions: the first parts of their names. */
const kinds = [
  "transcript",
  "share",
  "review",
  "member",
  "invitation",
  "session",
  "sign_in",
  "sign_in_token",
  "api_key",
  "client_key",
  "account",
  "limits",
  "vocabulary",
  "webhook",
  "stream_token",
  "access",
] as const;

type Kind = (typeof kinds)[number];

/** Chooses which entries of the audit log are shown, and downloads these as CSV. */
export function AuditLogFilter({
  filter,
  actors,
  nameOf,
  onChange,
}: {
  readonly filter: AuditFilter;
  /** The members, keys and others to choose from. */
  readonly actors: readonly string[];
  readonly nameOf: (actor: string) => string;
  readonly onChange: (filter: AuditFilter) => void;
}) {
  const t = useText();
  const all = { value: "" as const, text: t(accountText.logAll) };
  const save = useMutation({
    mutationFn: async () => auditCsv(await allEvents(filter), nameOf),
    onSuccess: (csv) => saveFile(new Blob([csv], { type: "text/csv" }), "hlust-audit.csv"),
  });
  return (
    <>
      <div className="audit-filter">
        <Choice<Kind | "">
          label={t(accountText.logAction)}
          value={kinds.find((kind) => kind === filter.action) ?? ""}
          options={[
            all,
            ...kinds.map((value) => ({ value, text: t(accountText.logKinds[value]) })),
          ]}
          onChange={(action) => onChange({ ...filter, action })}
        />
        <Choice
          label={t(accountText.logActor)}
          value={filter.actor}
          options={[
            { value: "", text: t(accountText.logEveryone) },
            ...actors.map((value) => ({ value, text: nameOf(value) })),
          ]}
          onChange={(actor) => onChange({ ...filter, actor })}
        />
        <Button isPending={save.isPending} onPress={() => save.mutate()}>
          {t(accountText.logCsv)}
        </Button>
      </div>
      {save.error && <ProblemNote error={save.error} />}
    </>
  );
}
