import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useEffect, useState } from "react";
import { sessionQuery } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { useText } from "../text/language.tsx";
import { signInText } from "../text/sign-in.ts";
import { enter } from "./enter.ts";
import { forgetLink } from "./link.ts";
import { SignInProblem } from "./sign-in-problem.tsx";

/**
 * A form for signing in with an API key. The key stays in the field if it is refused.
 * `linkProblem` is why a link did not sign in, if one was opened.
 */
export function KeyForm({
  look,
  linkProblem,
}: {
  readonly look: "plain" | "primary";
  readonly linkProblem: unknown;
}) {
  const t = useText();
  const queries = useQueryClient();
  const [apiKey, setApiKey] = useState("");
  const [isMissing, setIsMissing] = useState(false);
  const [isSeen, setIsSeen] = useState(false);
  const entering = useMutation({
    mutationFn: enter,
    onMutate: forgetLink,
    onSuccess: (session) => queries.setQueryData(sessionQuery.queryKey, session),
  });
  const { reset } = entering;
  useEffect(() => {
    // The problem with a key is older than that with a link.
    if (linkProblem !== undefined) reset();
  }, [linkProblem, reset]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const key = apiKey.trim();
    setIsMissing(key === "");
    if (key !== "") entering.mutate({ apiKey: key });
  };
  return (
    <form className="key-form" onSubmit={submit} noValidate>
      <TextInput
        label={t(signInText.apiKey)}
        hint={t(signInText.apiKeyHint)}
        problem={isMissing ? t(signInText.apiKeyMissing) : undefined}
        type={isSeen ? "text" : "password"}
        autoComplete="current-password"
        spellCheck="false"
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the page has no other task
        autoFocus={look === "primary"}
        value={apiKey}
        onChange={setApiKey}
      />
      <div className="key-show">
        <label>
          <input
            type="checkbox"
            checked={isSeen}
            onChange={({ target }) => setIsSeen(target.checked)}
          />
          {t(signInText.showKey)}
        </label>
      </div>
      {entering.error && <SignInProblem error={entering.error} />}
      <Button type="submit" look={look} isPending={entering.isPending}>
        {t(signInText.withKey)}
      </Button>
    </form>
  );
}
