import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { AccountJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { useText } from "../text/language.tsx";
import { vocabularyText } from "../text/vocabulary.ts";

const candidatesQuery = queryOptions({
  queryKey: ["vocabulary", "setting"],
  queryFn: async ({ signal }) => {
    const account = await callApi<AccountJson>("/v1/account", { signal });
    return account.vocabularyCandidatesDisabled !== true;
  },
});

/** The account's choice whether corrections are suggested, for users who may change it. */
export function CandidatesChoice() {
  const t = useText();
  const queries = useQueryClient();
  const { data } = useQuery(candidatesQuery);
  const change = useMutation({
    mutationFn: (isOn: boolean) =>
      callApi("/v1/account", { method: "PATCH", body: { vocabularyCandidatesDisabled: !isOn } }),
    onSettled: () => queries.invalidateQueries({ queryKey: candidatesQuery.queryKey }),
  });
  if (data === undefined) return null;
  return (
    <>
      <label className="candidates-choice">
        <input
          type="checkbox"
          checked={change.isPending ? change.variables : data}
          onChange={({ target }) => change.mutate(target.checked)}
        />
        {t(vocabularyText.suggests)}
      </label>
      {change.error && <ProblemNote error={change.error} />}
    </>
  );
}
