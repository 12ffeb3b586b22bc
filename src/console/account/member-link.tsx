import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { MemberJson, SignInLinkJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { Button } from "../parts/button.tsx";
import { CodeSample } from "../parts/code-sample.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { accountProblems, accountText } from "../text/account.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";

/** A dialog with a link that signs a member in, which is shown once. */
export function MemberLink({
  member: { name = "", email = "", displayName = "" },
  onClose,
}: {
  readonly member: MemberJson;
  readonly onClose: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const [uri, setUri] = useState<string>();
  const make = useMutation({
    mutationFn: () =>
      callApi<SignInLinkJson>(`/v1/${name}:createSignInLink`, { method: "POST", body: {} }),
    onSuccess: async (link) => {
      setUri(link.uri);
      await queries.invalidateQueries({ queryKey: ["account", "audit"] });
    },
  });
  const title = t(accountText.linkOf)(displayName || email);
  return (
    <DialogBox title={title} isOpen isLocked={uri !== undefined} onClose={onClose}>
      <p>{t(accountText.linkNext)}</p>
      {uri !== undefined && <CodeSample label={title} text={uri} />}
      {make.error && <ProblemNote error={make.error} own={accountProblems} />}
      <div className="dialog-actions">
        <Button onPress={onClose}>
          {t(uri === undefined ? commonText.cancel : commonText.close)}
        </Button>
        {uri === undefined && (
          <Button look="primary" isPending={make.isPending} onPress={() => make.mutate()}>
            {t(accountText.makeLink)}
          </Button>
        )}
      </div>
    </DialogBox>
  );
}
